package org.memgraft.ordering.agent;

import org.objectweb.asm.ClassReader;

/** What is done to each class. */
interface Treatment {
  /**
   * The class as it is to be.
   *
   * @param facts what it may trust in
   * @param sites counts the fences that it gets
   * @throws RuntimeException where it cannot be done
   */
  byte[] of(Offer offer, KnownClasses.Facts facts, Sites sites);

  /** Puts fences, or delays, to what the subset names. */
  static Treatment fences(Subset subset, boolean delays, Hierarchy hierarchy) {
    Machine machine = Machine.here();
    return (offer, facts, sites) -> {
      if (!subset.isAll()) {
        hierarchy.add(offer.loader(), new ClassReader(offer.bytes()));
      }
      var work = new Rewriter.Work(subset, delays, machine, offer.loader(), false, facts);
      return Rewriter.rewrite(offer.bytes(), work, sites);
    };
  }

  /** Puts fences, but for fields of objects that stay with the threads that made them. */
  static Treatment speculating(Speculation speculation, Hierarchy hierarchy) {
    Machine machine = Machine.here();
    return (offer, facts, sites) -> {
      var work = new Rewriter.Work(Subset.ALL, false, machine, offer.loader(), true, facts);
      boolean ofTheJdk =
          offer.origin() != Offer.Origin.HIDDEN && !Transformer.mayNamePrograms(offer.loader());
      return ofTheJdk
          ? Rewriter.rewrite(offer.bytes(), work, sites)
          : Speculator.rewrite(offer, work, speculation, hierarchy, sites);
    };
  }

  /** Has accesses told. */
  static Treatment watching(Hierarchy hierarchy, Touches touches) {
    Machine machine = Machine.here();
    return (offer, facts, sites) -> {
      hierarchy.add(offer.loader(), new ClassReader(offer.bytes()));
      return Watcher.rewrite(offer.bytes(), offer.loader(), hierarchy, touches, machine);
    };
  }

  /** Weakens accesses but for those that the subset names. */
  static Treatment weakening(Subset inOrder, Hierarchy hierarchy, WeakMemory memory) {
    FieldNumbers numbers = new FieldNumbers(memory::shareNumber);
    return (offer, facts, sites) -> {
      ClassReader reader = new ClassReader(offer.bytes());
      numbers.has(offer.loader(), reader.getClassName());
      hierarchy.add(offer.loader(), reader);
      return Weakener.rewrite(offer.bytes(), offer.loader(), numbers, hierarchy, inOrder);
    };
  }
}
