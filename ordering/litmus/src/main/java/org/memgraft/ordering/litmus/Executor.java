package org.memgraft.ordering.litmus;

import java.lang.management.ManagementFactory;
import java.util.Locale;
import javax.management.JMException;
import javax.management.ObjectName;

/** What executes the racing methods; bin/litmus gives java the options for it. */
enum Executor {
  /** Compilers get none of the tests, only what meets, starts and counts them. */
  INTERPRETER(0),
  /** With -XX:TieredStopAtLevel=1. */
  C1(1),
  /** With -XX:-TieredCompilation. */
  C2(4),
  /** HotSpot decides: all of them in turn. */
  DEFAULT(0);

  /** HotSpot's CompLevel. */
  private final int level;

  Executor(int level) {
    this.level = level;
  }

  /** Whether this executes all racing methods. */
  boolean has(Race race) {
    if (this == DEFAULT) {
      return true;
    }
    String list = codeList();
    return list != null
        && race.racingMethods().stream().allMatch(method -> has(list, race.getClass(), method));
  }

  /** Whether by this list of compiled methods it executes the method, which may be inherited. */
  boolean has(String list, Class<?> type, String method) {
    for (Class<?> owner = type; owner != null; owner = owner.getSuperclass()) {
      String name = " " + owner.getName() + "." + method + "(";
      for (int at = list.indexOf(name); at >= 0; at = list.indexOf(name, at + 1)) {
        String[] words = list.substring(list.lastIndexOf('\n', at) + 1, at).strip().split(" +");
        if (level == 0) {
          return false;
        }
        if (words[1].equals(Integer.toString(level)) && words[2].equals("0")) {
          return true;
        }
      }
    }
    return level == 0;
  }

  /**
   * Of HotSpot's own list of what is in its code cache, what jcmd prints as Compiler.codelist: one
   * line "id level state CLASS.METHOD(...) [addresses]" per compiled method; state 0 is in use.
   * What was compiled for one of its loops alone is not told from the rest; bin/litmus forbids it.
   * Null from another JVM, of which nobody can say it.
   */
  private static String codeList() {
    try {
      return (String)
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "compilerCodelist",
                  new Object[0],
                  new String[0]);
    } catch (JMException e) {
      return null;
    }
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
