package org.memgraft.workloads.churn;

/**
 * Objects of several sizes that are made without setting any field, checked, then scribbled over.
 */
interface FreshObject {
  /** Must be called on what comes out of a {@link BlindSpot}. */
  void check() throws DirtyMemory;

  /** Leaves no field zero. */
  void scribble(Object reference);

  /** The smallest object with something in it. */
  final class Tiny implements FreshObject {
    private byte value;

    @Override
    public void check() throws DirtyMemory {
      if (value != 0) {
        throw new DirtyMemory(this, "value", value);
      }
    }

    @Override
    public void scribble(Object reference) {
      value = (byte) 0xa5;
    }
  }

  /** A field of each type. */
  final class Mixed implements FreshObject {
    private boolean aBoolean;
    private byte aByte;
    private char aChar;
    private short aShort;
    private int anInt;
    private long aLong;
    private float aFloat;
    private double aDouble;
    private Object aReference;

    @Override
    public void check() throws DirtyMemory {
      if (aBoolean) {
        throw new DirtyMemory(this, "aBoolean", true);
      }
      requireZero("aByte", aByte);
      requireZero("aChar", aChar);
      requireZero("aShort", aShort);
      requireZero("anInt", anInt);
      requireZero("aLong", aLong);
      // As bits: -0.0 is not fresh.
      requireZero("aFloat", Float.floatToRawIntBits(aFloat));
      requireZero("aDouble", Double.doubleToRawLongBits(aDouble));
      if (aReference != null) {
        throw new DirtyMemory(this, "aReference", "a reference");
      }
    }

    private void requireZero(String field, long bits) throws DirtyMemory {
      if (bits != 0) {
        throw new DirtyMemory(this, field, bits);
      }
    }

    @Override
    public void scribble(Object reference) {
      aBoolean = true;
      aByte = (byte) 0xa5;
      aChar = (char) 0xa5a5;
      aShort = (short) 0xa5a5;
      anInt = 0xa5a5a5a5;
      aLong = 0xa5a5a5a5a5a5a5a5L;
      aFloat = 1.5f;
      aDouble = 1.5;
      aReference = reference;
    }
  }

  /** A cache line and a half. */
  final class Wide implements FreshObject {
    private long a;
    private long b;
    private long c;
    private long d;
    private long e;
    private long f;
    private Object g;
    private Object h;
    private Object i;
    private Object j;

    @Override
    public void check() throws DirtyMemory {
      long longs = a | b | c | d | e | f;
      if (longs != 0) {
        throw new DirtyMemory(this, "a to f", longs);
      }
      if (g != null || h != null || i != null || j != null) {
        throw new DirtyMemory(this, "g to j", "a reference");
      }
    }

    @Override
    public void scribble(Object reference) {
      a = b = c = d = e = f = 0xa5a5a5a5a5a5a5a5L;
      g = h = i = j = reference;
    }
  }
}
