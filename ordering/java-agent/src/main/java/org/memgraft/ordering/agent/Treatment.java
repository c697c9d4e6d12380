package org.memgraft.ordering.agent;

import org.objectweb.asm.ClassReader;

/** What is done to each class. */
interface Treatment {
  /**
   * The class as it is to be.
   *
   * @param loader that defines it; null: the JVM's own
   * @param sites counts the fences that it gets
   * @throws RuntimeException where it cannot be done
   */
  byte[] of(ClassLoader loader, byte[] original, Sites sites);

  /** Puts fences, or delays, to what the subset names. */
  static Treatment fences(Subset subset, boolean delays, Hierarchy hierarchy) {
    Machine machine = Machine.here();
    return (loader, original, sites) -> {
      if (!subset.isAll()) {
        hierarchy.add(new ClassReader(original));
      }
      return Rewriter.rewrite(original, new Rewriter.Work(subset, delays, machine, loader), sites);
    };
  }

  /** Has accesses told. */
  static Treatment watching(Hierarchy hierarchy, Touches touches) {
    Machine machine = Machine.here();
    return (loader, original, sites) -> {
      hierarchy.add(new ClassReader(original));
      return Watcher.rewrite(original, loader, hierarchy, touches, machine);
    };
  }

  /** Weakens accesses but for those that the subset names. */
  static Treatment weakening(Subset inOrder, Hierarchy hierarchy) {
    FieldNumbers numbers = new FieldNumbers();
    return (loader, original, sites) -> {
      hierarchy.add(new ClassReader(original));
      return Weakener.rewrite(original, loader, numbers, hierarchy, inOrder);
    };
  }
}
