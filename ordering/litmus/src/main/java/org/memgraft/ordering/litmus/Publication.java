package org.memgraft.ordering.litmus;

/** Objects that another thread may see before they are complete. */
final class Publication {
  private Publication() {}

  /** Four plain fields, each 1 when the constructor is done. */
  static final class Payload {
    int a;
    int b;
    int c;
    int d;

    Payload() {
      a = 1;
      b = 1;
      c = 1;
      d = 1;
    }

    long complete() {
      return a & b & c & d;
    }
  }

  static final class Holder {
    Payload payload;
    int[] array;
    final Object lock = new Object();
  }

  /** Published through a plain field: r0, was it there; r1, was it complete. */
  static final class OfObject extends HandWritten<Holder> {
    @Override
    Holder make() {
      return new Holder();
    }

    @Override
    void race0(Holder shared, long[] results, int i) {
      shared.payload = new Payload();
    }

    @Override
    void race1(Holder shared, long[] results, int i) {
      Payload seen = shared.payload;
      results[2 * i] = seen == null ? 0 : 1;
      results[2 * i + 1] = seen == null ? 0 : seen.complete();
    }
  }

  /** The same with an array. */
  static final class OfArray extends HandWritten<Holder> {
    @Override
    Holder make() {
      return new Holder();
    }

    @Override
    void race0(Holder shared, long[] results, int i) {
      shared.array = new int[] {1, 1, 1, 1};
    }

    @Override
    void race1(Holder shared, long[] results, int i) {
      int[] seen = shared.array;
      results[2 * i] = seen == null ? 0 : 1;
      results[2 * i + 1] = seen == null ? 0 : seen[0] & seen[1] & seen[2] & seen[3];
    }
  }

  /** Double-checked locking without volatile: r0 and r1, was what each thread got complete. */
  static final class DoubleChecked extends HandWritten<Holder> {
    @Override
    Holder make() {
      return new Holder();
    }

    @Override
    void race0(Holder shared, long[] results, int i) {
      results[i] = get(shared).complete();
    }

    @Override
    void race1(Holder shared, long[] results, int i) {
      results[i] = get(shared).complete();
    }

    private static Payload get(Holder shared) {
      Payload seen = shared.payload;
      if (seen == null) {
        synchronized (shared.lock) {
          seen = shared.payload;
          if (seen == null) {
            seen = new Payload();
            shared.payload = seen;
          }
        }
      }
      return seen;
    }
  }
}
