package org.memgraft.ordering.litmus;

import java.util.List;
import java.util.Set;

/** Says under which memory model an outcome can be. */
@FunctionalInterface
interface Grading {
  /** The outcome's values are in the order of the test's labels. */
  Grade of(List<Integer> outcome);

  /** Computed, not claimed: every interleaving, without and with store buffers, is gone through. */
  static Grading enumerated(Program program) {
    return new Grading() {
      private Set<List<Integer>> sc;
      private Set<List<Integer>> tso;

      @Override
      public Grade of(List<Integer> outcome) {
        if (sc == null) {
          // Not before: hundreds of tests are listed for each that is run.
          sc = Enumerator.sc(program);
          tso = Enumerator.tso(program);
        }
        if (sc.contains(outcome)) {
          return Grade.SC;
        }
        return tso.contains(outcome) ? Grade.TSO : Grade.NEITHER;
      }
    };
  }
}
