package org.memgraft.ordering.litmus;

import java.util.Locale;

/** The strongest memory model under which an outcome can be. */
enum Grade {
  /**
   * Sequential consistency: some interleaving of the threads' steps has this outcome (Lamport 1979,
   * "How to Make a Multiprocessor Computer That Correctly Executes Multiprocess Programs").
   */
  SC,
  /**
   * Total store order: it takes store buffers (Sewell, Sarkar, Owens, Zappa Nardelli and Myreen
   * 2010, "x86-TSO: A Rigorous and Usable Programmer's Model for x86 Multiprocessors").
   */
  TSO,
  /** It takes more, such as a compiler that reorders, or a CPU weaker than x86. */
  NEITHER;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
