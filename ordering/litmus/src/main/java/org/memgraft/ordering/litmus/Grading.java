package org.memgraft.ordering.litmus;

import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/** Says under which memory models an outcome can be: its values in the order of the labels. */
interface Grading {
  /** The strongest of those that a CPU may have. */
  Grade of(List<Integer> outcome);

  /** Whether the Java memory model allows it. */
  boolean isJava(List<Integer> outcome);

  /**
   * Computed, not claimed: every interleaving, without and with store buffers, is gone through, and
   * every execution that Java allows where the accesses are in this mode.
   */
  static Grading enumerated(Program program, JavaModel.Mode mode) {
    return new Grading() {
      private Set<List<Integer>> sc;
      private Set<List<Integer>> tso;
      private Set<List<Integer>> java;

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

      @Override
      public boolean isJava(List<Integer> outcome) {
        if (java == null) {
          java = JavaModel.outcomes(program, mode);
        }
        return java.contains(outcome);
      }
    };
  }

  /** As somebody has thought it out. */
  static Grading told(Function<List<Integer>, Grade> grade, Predicate<List<Integer>> java) {
    return new Grading() {
      @Override
      public Grade of(List<Integer> outcome) {
        return grade.apply(outcome);
      }

      @Override
      public boolean isJava(List<Integer> outcome) {
        return java.test(outcome);
      }
    };
  }
}
