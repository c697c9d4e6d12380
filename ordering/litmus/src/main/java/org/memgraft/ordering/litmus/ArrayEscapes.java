package org.memgraft.ordering.litmus;

/**
 * As {@link Escapes}, with an array: no constructor runs, and it is shared from the moment on at
 * which its reference gets out.
 */
final class ArrayEscapes {
  private ArrayEscapes() {}

  static final class Shared {
    int[] p;
    final Object[] slots = new Object[1];
    int y;
  }

  /** What all ways out have in common. */
  abstract static class Escape extends HandWritten<Shared> {
    @Override
    Shared make() {
      return new Shared();
    }

    int[] find(Shared shared) {
      return shared.p;
    }

    @Override
    void race1(Shared shared, long[] results, int i) {
      shared.y = 1;
      int[] array = find(shared);
      results[2 * i] = array == null ? 0 : 1;
      results[2 * i + 1] = array == null ? 0 : array[0];
    }
  }

  /** Through a field. */
  static final class ByField extends Escape {
    @Override
    void race0(Shared shared, long[] results, int i) {
      int[] array = new int[1];
      shared.p = array;
      array[0] = 1;
      results[i] = shared.y;
    }
  }

  /** In a method that was given it. */
  static final class ByCallee extends Escape {
    @Override
    void race0(Shared shared, long[] results, int i) {
      int[] array = new int[1];
      publish(shared, array);
      array[0] = 1;
      results[i] = shared.y;
    }

    private static void publish(Shared shared, int[] array) {
      shared.p = array;
    }
  }

  /** As an element of another array, which is young too. */
  static final class ByOther extends Escape {
    @Override
    int[] find(Shared shared) {
      Object[] outer = (Object[]) shared.slots[0];
      return outer == null ? null : (int[]) outer[0];
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      int[] array = new int[1];
      Object[] outer = {array};
      shared.slots[0] = outer;
      array[0] = 1;
      results[i] = shared.y;
    }
  }

  /** In a loop: at its first store the array is still this thread's own, at its second not. */
  static final class ByLoop extends Escape {
    @Override
    void race0(Shared shared, long[] results, int i) {
      int[] array = new int[1];
      int seen = 0;
      for (int x = 0; x < 2; x++) {
        array[0] = x;
        seen = shared.y;
        shared.p = array;
      }
      results[i] = seen;
    }
  }

  /** Under a name that may be this array's, or another's. */
  static final class ByEither extends Escape {
    @Override
    void race0(Shared shared, long[] results, int i) {
      int[] array = new int[1];
      int[] other = new int[1];
      boolean even = (i & 1) == 0;
      shared.p = even ? array : other;
      if (even) {
        array[0] = 1;
      } else {
        other[0] = 1;
      }
      results[i] = shared.y;
    }
  }

  /** In a method that gives it away, and then throws. */
  static final class ByThrower extends Escape {
    private static final class Thrown extends RuntimeException {
      private static final long serialVersionUID = 1;
      static final Thrown ALWAYS = new Thrown();

      private Thrown() {
        super(null, null, false, false);
      }
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      int[] array = new int[1];
      try {
        publish(shared, array);
      } catch (Thrown e) {
        // Without a way on that is common to both.
        array[0] = 1;
        results[i] = shared.y;
        return;
      }
      results[i] = -1;
    }

    private static void publish(Shared shared, int[] array) {
      shared.p = array;
      throw Thrown.ALWAYS;
    }
  }
}
