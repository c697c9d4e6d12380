package org.memgraft.ordering.agent;

import java.lang.instrument.Instrumentation;

/**
 * The entry: {@code java -javaagent:memgraft-ordering.jar=summary=FOLDER ...}. Compiled for Java 8,
 * so that an old JVM can say what is wrong: it could not read the other classes.
 */
public final class Premain {
  private static final int OLDEST = 17;
  private static final int CANNOT = 3;

  private Premain() {}

  /** Called by the JVM before the program's main. */
  public static void premain(String text, Instrumentation instrumentation) throws Exception {
    String version = System.getProperty("java.specification.version");
    // "1.8", and from 9 on "9", "10", ...
    if (version.startsWith("1.") || Integer.parseInt(version) < OLDEST) {
      System.err.println(
          "memgraft: the engine bytecode rewrites classes of Java "
              + OLDEST
              + " and later; this is Java "
              + version
              + ": choose another with JAVA_HOME");
      Runtime.getRuntime().halt(CANNOT);
    }
    Class.forName("org.memgraft.ordering.agent.Agent")
        .getMethod("premain", String.class, Instrumentation.class)
        .invoke(null, text, instrumentation);
  }
}
