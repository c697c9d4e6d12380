package org.memgraft.ordering.litmus;

/**
 * A store to an object that is young, but no longer this thread's alone. The first thread makes an
 * object, lets it escape (p becomes 1), then stores to it (x = 1) and reads y into r0. The second
 * stores to y and looks: r1, has it escaped; r2, what is in it.
 *
 * <p>A store to an object that nobody else can reach needs no fence; whoever leaves that fence out
 * must know each of these ways out.
 */
final class Escapes {
  private Escapes() {}

  /** The young object. */
  static class Box {
    int x;
    Box inner;
  }

  static final class Shared {
    Box p;
    final Box[] slots = new Box[1];
    int y;
  }

  /** What all ways out have in common. */
  abstract static class Escape extends HandWritten<Shared> {
    @Override
    Shared make() {
      return new Shared();
    }

    Box find(Shared shared) {
      return shared.p;
    }

    @Override
    void race1(Shared shared, long[] results, int i) {
      shared.y = 1;
      Box box = find(shared);
      results[2 * i] = box == null ? 0 : 1;
      results[2 * i + 1] = box == null ? 0 : box.x;
    }
  }

  /** Through a field. */
  static final class ByField extends Escape {
    @Override
    void race0(Shared shared, long[] results, int i) {
      Box box = new Box();
      shared.p = box;
      box.x = 1;
      results[i] = shared.y;
    }
  }

  /** Its constructor gives it away before it is done. */
  static final class ByConstructor extends Escape {
    static final class Leaking extends Box {
      final int seen;

      Leaking(Shared shared) {
        shared.p = this;
        x = 1;
        seen = shared.y;
      }
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      results[i] = new Leaking(shared).seen;
    }
  }

  /** The constructor of its superclass gives it away. */
  static final class BySuperclass extends Escape {
    static class Leaking extends Box {
      Leaking(Shared shared) {
        shared.p = this;
      }
    }

    static final class Young extends Leaking {
      final int seen;

      Young(Shared shared) {
        super(shared);
        x = 1;
        seen = shared.y;
      }
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      results[i] = new Young(shared).seen;
    }
  }

  /** In a method of its own, which its superclass's constructor calls. */
  static final class ByOverriding extends Escape {
    abstract static class Registered extends Box {
      Registered(Shared shared) {
        register(shared);
      }

      abstract void register(Shared shared);
    }

    static final class Young extends Registered {
      final int seen;

      Young(Shared shared) {
        super(shared);
        x = 1;
        seen = shared.y;
      }

      @Override
      void register(Shared shared) {
        shared.p = this;
      }
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      results[i] = new Young(shared).seen;
    }
  }

  /** Inside another young object. */
  static final class ByOther extends Escape {
    @Override
    Box find(Shared shared) {
      Box outer = shared.p;
      return outer == null ? null : outer.inner;
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      Box box = new Box();
      Box outer = new Box();
      outer.inner = box;
      shared.p = outer;
      box.x = 1;
      results[i] = shared.y;
    }
  }

  /** Into another object that had escaped before. */
  static final class ByOlder extends Escape {
    @Override
    Box find(Shared shared) {
      Box outer = shared.p;
      return outer == null ? null : outer.inner;
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      Box outer = new Box();
      shared.p = outer;
      Box box = new Box();
      outer.inner = box;
      box.x = 1;
      results[i] = shared.y;
    }
  }

  /** As an element of an array. */
  static final class ByArray extends Escape {
    @Override
    Box find(Shared shared) {
      return shared.slots[0];
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      Box box = new Box();
      shared.slots[0] = box;
      box.x = 1;
      results[i] = shared.y;
    }
  }

  /** By System.arraycopy, out of an array that is as young as itself. */
  static final class ByArrayCopy extends Escape {
    @Override
    Box find(Shared shared) {
      return shared.slots[0];
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      Box box = new Box();
      Box[] young = {box};
      System.arraycopy(young, 0, shared.slots, 0, 1);
      box.x = 1;
      results[i] = shared.y;
    }
  }

  /** Under another name, which a method returned. */
  static final class ByAlias extends Escape {
    @Override
    void race0(Shared shared, long[] results, int i) {
      Box box = new Box();
      Box other = same(box, i);
      shared.p = other;
      box.x = 1;
      results[i] = shared.y;
    }

    private static Box same(Box box, int i) {
      return i < 0 ? new Box() : box;
    }
  }

  /** In a method that was given it. */
  static final class ByCallee extends Escape {
    @Override
    void race0(Shared shared, long[] results, int i) {
      Box box = new Box();
      publish(shared, box);
      box.x = 1;
      results[i] = shared.y;
    }

    private static void publish(Shared shared, Box box) {
      shared.p = box;
    }
  }

  /** In one arm of a branch; in the other it escapes another way. */
  static final class ByBranch extends Escape {
    @Override
    Box find(Shared shared) {
      Box box = shared.p;
      return box == null ? shared.slots[0] : box;
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      Box box = new Box();
      if ((i & 1) == 0) {
        shared.p = box;
      } else {
        shared.slots[0] = box;
      }
      box.x = 1;
      results[i] = shared.y;
    }
  }

  /** In a loop: at its first store the object is still this thread's own, at its second not. */
  static final class ByLoop extends Escape {
    @Override
    void race0(Shared shared, long[] results, int i) {
      Box box = new Box();
      int seen = 0;
      for (int x = 0; x < 2; x++) {
        box.x = x;
        seen = shared.y;
        shared.p = box;
      }
      results[i] = seen;
    }
  }

  /** Not the object itself, but a clone of the array it is in. */
  static final class ByClone extends Escape {
    @Override
    Box find(Shared shared) {
      Box outer = shared.p;
      return outer == null ? null : ((Boxes) outer).all[0];
    }

    /** A box that has an array. */
    static final class Boxes extends Box {
      final Box[] all;

      Boxes(Box[] all) {
        this.all = all;
      }
    }

    @Override
    void race0(Shared shared, long[] results, int i) {
      Box box = new Box();
      Box[] young = {box};
      shared.p = new Boxes(young.clone());
      box.x = 1;
      results[i] = shared.y;
    }
  }

  /** By a lambda that captured it. */
  static final class ByLambda extends Escape {
    @Override
    void race0(Shared shared, long[] results, int i) {
      Box box = new Box();
      Runnable publication = () -> shared.p = box;
      publication.run();
      box.x = 1;
      results[i] = shared.y;
    }
  }
}
