package org.memgraft.ordering.agent;

import java.util.List;

/**
 * What of the machine's memory model matters here.
 *
 * @param name as the system property os.arch has it
 */
record Machine(String name) {
  /**
   * Where all other threads see a store at once, and a long is loaded as a whole. On Power, where
   * two threads may see two stores in different orders, an acquire fence behind a load is too
   * little.
   */
  static final List<String> KNOWN = List.of("amd64", "x86_64", "aarch64", "riscv64", "s390x");

  static Machine here() {
    return new Machine(System.getProperty("os.arch"));
  }

  /** Whether the JVM is HotSpot, by whatever vendor. */
  static boolean isHotSpot() {
    return System.getProperty("java.vm.name", "").matches("(OpenJDK|Java HotSpot).* VM");
  }

  boolean isKnown() {
    return KNOWN.contains(name);
  }

  /**
   * Whether a JVM fences a volatile store against plain loads behind it. On x86 it must, to fence
   * it against volatile ones. AArch64 has instructions that order volatile accesses among each
   * other alone (stlr, ldar).
   */
  boolean fencesVolatileStores() {
    return name.equals("amd64") || name.equals("x86_64");
  }
}
