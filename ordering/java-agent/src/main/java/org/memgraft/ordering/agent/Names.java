package org.memgraft.ordering.agent;

import java.util.List;

/**
 * How names begin and end. Where a class is rewritten, regular expressions would have the JVM load
 * and link what is of no other use.
 */
final class Names {
  /** The packages whose classes come with a JVM, by internal names. */
  private static final List<String> OF_A_JDK =
      List.of("java/", "javax/", "jdk/", "sun/", "com/sun/");

  private Names() {}

  static boolean begins(String name, List<String> ways) {
    for (String way : ways) {
      if (name.startsWith(way)) {
        return true;
      }
    }
    return false;
  }

  /** Whether the package says that a class comes with a JVM. */
  static boolean isOfAJdk(String name) {
    return begins(name, OF_A_JDK);
  }

  /** A name without its end where that is one of these. */
  static String withoutEnd(String name, List<String> ends) {
    for (String end : ends) {
      if (name.endsWith(end)) {
        return name.substring(0, name.length() - end.length());
      }
    }
    return name;
  }
}
