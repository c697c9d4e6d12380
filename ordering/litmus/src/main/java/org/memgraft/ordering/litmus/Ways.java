package org.memgraft.ordering.litmus;

/**
 * Store buffering (x = 1; r0 = y against y = 1; r1 = x) with another store between that not every
 * round comes to. Whoever takes the fence of that store for that of the first must know the ways
 * around it.
 */
final class Ways {
  private Ways() {}

  static final class Shared {
    int x;
    int y;
    int a;
    int b;
    final int[] slot = new int[1];
  }

  private abstract static class Way extends HandWritten<Shared> {
    @Override
    Shared make() {
      return new Shared();
    }
  }

  /** A branch that every other round takes. */
  static final class Branch extends Way {
    @Override
    void race0(Shared shared, long[] results, int i) {
      shared.x = 1;
      if ((i & 1) == 0) {
        shared.a = 1;
      }
      results[i] = shared.y;
    }

    @Override
    void race1(Shared shared, long[] results, int i) {
      shared.y = 1;
      if ((i & 2) == 0) {
        shared.b = 1;
      }
      results[i] = shared.x;
    }
  }

  /** A branch with a store on one way and a load on the other. */
  static final class StoreOrLoad extends Way {
    @Override
    void race0(Shared shared, long[] results, int i) {
      shared.x = 1;
      if ((i & 1) == 0) {
        shared.a = 1;
        results[i] = shared.y;
      } else {
        results[i] = shared.y;
        shared.b = 1;
      }
    }

    @Override
    void race1(Shared shared, long[] results, int i) {
      shared.y = 1;
      results[i] = shared.x;
    }
  }

  /** A loop of no turn, or of one. */
  static final class Loop extends Way {
    @Override
    void race0(Shared shared, long[] results, int i) {
      shared.x = 1;
      for (int turn = 0; turn < (i & 1); turn++) {
        shared.a = turn;
      }
      results[i] = shared.y;
    }

    @Override
    void race1(Shared shared, long[] results, int i) {
      shared.y = 1;
      for (int turn = 0; turn < (i & 1); turn++) {
        shared.b = turn;
      }
      results[i] = shared.x;
    }
  }

  /** An index that every other round has out of bounds. */
  static final class OutOfBounds extends Way {
    @Override
    void race0(Shared shared, long[] results, int i) {
      shared.x = 1;
      try {
        shared.slot[i & 1] = 1;
      } catch (ArrayIndexOutOfBoundsException expected) {
        results[i] = shared.y;
        return;
      }
      results[i] = shared.y;
    }

    @Override
    void race1(Shared shared, long[] results, int i) {
      shared.y = 1;
      results[i] = shared.x;
    }
  }
}
