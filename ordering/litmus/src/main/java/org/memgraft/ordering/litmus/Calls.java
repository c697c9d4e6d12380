package org.memgraft.ordering.litmus;

/** Store buffering (x = 1; r0 = y against y = 1; r1 = x) whose stores or loads are in methods. */
final class Calls {
  private Calls() {}

  static final class Shared {
    int x;
    int y;
  }

  /** Stores through an interface with so many classes that no compiler inlines them all. */
  static final class Virtual extends HandWritten<Shared> {
    private interface Store {
      void x(Shared shared);

      void y(Shared shared);
    }

    private static class First implements Store {
      @Override
      public void x(Shared shared) {
        shared.x = 1;
      }

      @Override
      public void y(Shared shared) {
        shared.y = 1;
      }
    }

    private static final class Second extends First {
      @Override
      public void x(Shared shared) {
        shared.x = 1;
      }
    }

    private static final class Third extends First {
      @Override
      public void y(Shared shared) {
        shared.y = 1;
      }
    }

    private static final class Fourth implements Store {
      @Override
      public void x(Shared shared) {
        shared.x = 1;
      }

      @Override
      public void y(Shared shared) {
        shared.y = 1;
      }
    }

    private final Store[] stores = {new First(), new Second(), new Third(), new Fourth()};

    @Override
    Shared make() {
      return new Shared();
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      stores[i & 3].x(shared);
      results[i] = shared.y;
    }

    @Override
    void race1(Shared shared, long[] results, int i) {
      stores[i & 3].y(shared);
      results[i] = shared.x;
    }
  }

  /** The load is in a finally, after a store that is the last thing in a try. */
  static final class Finally extends HandWritten<Shared> {
    @Override
    Shared make() {
      return new Shared();
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      try {
        shared.x = 1;
      } finally {
        results[i] = shared.y;
      }
    }

    @Override
    void race1(Shared shared, long[] results, int i) {
      try {
        shared.y = 1;
      } finally {
        results[i] = shared.x;
      }
    }
  }

  /** The store is the innermost thing of calls that go deeper than compilers inline recursion. */
  static final class Recursive extends HandWritten<Shared> {
    @Override
    Shared make() {
      return new Shared();
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      storeX(shared, 3);
      results[i] = shared.y;
    }

    @Override
    void race1(Shared shared, long[] results, int i) {
      storeY(shared, 3);
      results[i] = shared.x;
    }

    private static void storeX(Shared shared, int depth) {
      if (depth == 0) {
        shared.x = 1;
      } else {
        storeX(shared, depth - 1);
      }
    }

    private static void storeY(Shared shared, int depth) {
      if (depth == 0) {
        shared.y = 1;
      } else {
        storeY(shared, depth - 1);
      }
    }
  }

  /** The store is in a loop, which is the last thing in a method too deep to inline. */
  static final class Filling extends HandWritten<Shared> {
    @Override
    Shared make() {
      return new Shared();
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      fillX(shared, 1 + (i & 1), 3);
      results[i] = shared.y;
    }

    @Override
    void race1(Shared shared, long[] results, int i) {
      fillY(shared, 1 + (i & 1), 3);
      results[i] = shared.x;
    }

    private static void fillX(Shared shared, int turns, int depth) {
      if (depth > 0) {
        fillX(shared, turns, depth - 1);
        return;
      }
      for (int turn = 0; turn < turns; turn++) {
        shared.x = 1;
      }
    }

    private static void fillY(Shared shared, int turns, int depth) {
      if (depth > 0) {
        fillY(shared, turns, depth - 1);
        return;
      }
      for (int turn = 0; turn < turns; turn++) {
        shared.y = 1;
      }
    }
  }
}
