package org.memgraft.ordering.litmus;

/**
 * Mutual exclusion by plain reads and writes alone. Each thread wants to add one to a counter, once
 * per instance: r0 and r1 are whether it came in, and under SC the counter is how many did.
 *
 * <p>A thread that has waited long gives up: C2 may read a plain variable once and wait for ever.
 */
final class Exclusion {
  private static final int PATIENCE = 200;

  private Exclusion() {}

  static final class Shared {
    int wants0;
    int wants1;
    int turn;
    int counter;
  }

  /** What both have in common. */
  abstract static class Algorithm extends HandWritten<Shared> {
    @Override
    Shared make() {
      return new Shared();
    }

    @Override
    void end(Shared shared, long[] values) {
      values[0] = shared.counter;
    }
  }

  /** Dekker's (Dijkstra 1965, "Cooperating Sequential Processes", section 2.1). */
  static final class Dekker extends Algorithm {
    @Override
    void race0(Shared shared, long[] results, int i) {
      int patience = PATIENCE;
      shared.wants0 = 1;
      while (shared.wants1 == 1) {
        if (--patience < 0) {
          shared.wants0 = 0;
          results[i] = 0;
          return;
        }
        if (shared.turn != 0) {
          shared.wants0 = 0;
          while (shared.turn != 0 && --patience >= 0) {
            Thread.onSpinWait();
          }
          shared.wants0 = 1;
        }
      }
      shared.counter++;
      shared.turn = 1;
      shared.wants0 = 0;
      results[i] = 1;
    }

    @Override
    void race1(Shared shared, long[] results, int i) {
      int patience = PATIENCE;
      shared.wants1 = 1;
      while (shared.wants0 == 1) {
        if (--patience < 0) {
          shared.wants1 = 0;
          results[i] = 0;
          return;
        }
        if (shared.turn != 1) {
          shared.wants1 = 0;
          while (shared.turn != 1 && --patience >= 0) {
            Thread.onSpinWait();
          }
          shared.wants1 = 1;
        }
      }
      shared.counter++;
      shared.turn = 0;
      shared.wants1 = 0;
      results[i] = 1;
    }
  }

  /** Peterson 1981, "Myths About the Mutual Exclusion Problem". */
  static final class Peterson extends Algorithm {
    @Override
    void race0(Shared shared, long[] results, int i) {
      shared.wants0 = 1;
      shared.turn = 1;
      for (int patience = PATIENCE; shared.wants1 == 1 && shared.turn == 1; patience--) {
        if (patience == 0) {
          shared.wants0 = 0;
          results[i] = 0;
          return;
        }
        Thread.onSpinWait();
      }
      shared.counter++;
      shared.wants0 = 0;
      results[i] = 1;
    }

    @Override
    void race1(Shared shared, long[] results, int i) {
      shared.wants1 = 1;
      shared.turn = 0;
      for (int patience = PATIENCE; shared.wants0 == 1 && shared.turn == 0; patience--) {
        if (patience == 0) {
          shared.wants1 = 0;
          results[i] = 0;
          return;
        }
        Thread.onSpinWait();
      }
      shared.counter++;
      shared.wants1 = 0;
      results[i] = 1;
    }
  }
}
