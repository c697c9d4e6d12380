package org.memgraft.workloads.churn;

import java.lang.reflect.Array;
import java.util.Arrays;

/** Checks that fresh arrays are zero, and scribbles over them. */
final class FreshArray {
  /** Compared in pieces of this many elements, so that the zeroes stay in the first-level cache. */
  static final int PIECE = 1024;

  private static final boolean[] BOOLEANS = new boolean[PIECE];
  private static final byte[] BYTES = new byte[PIECE];
  private static final char[] CHARS = new char[PIECE];
  private static final short[] SHORTS = new short[PIECE];
  private static final int[] INTS = new int[PIECE];
  private static final long[] LONGS = new long[PIECE];
  private static final float[] FLOATS = new float[PIECE];
  private static final double[] DOUBLES = new double[PIECE];

  static {
    // Written, not just allocated: they must be zero even when fresh memory is not.
    Arrays.fill(BOOLEANS, false);
    Arrays.fill(BYTES, (byte) 0);
    Arrays.fill(CHARS, (char) 0);
    Arrays.fill(SHORTS, (short) 0);
    Arrays.fill(INTS, 0);
    Arrays.fill(LONGS, 0);
    Arrays.fill(FLOATS, 0);
    Arrays.fill(DOUBLES, 0);
  }

  private static final int ALL_ZERO = -1;

  private FreshArray() {}

  /**
   * Checks an array of any type from the given index to its end. {@link Arrays#mismatch} tells -0.0
   * from 0.0, as it must: fresh memory has no sign bits.
   *
   * @param array must come out of a {@link BlindSpot}
   */
  static void check(Object array, int from) throws DirtyMemory {
    int dirty = firstNonZero(array, from);
    if (dirty != ALL_ZERO) {
      // A reference found in dirty memory may point anywhere: it must not be followed.
      Object found = array instanceof Object[] ? "a reference" : Array.get(array, dirty);
      throw new DirtyMemory(array, dirty, found);
    }
  }

  private static int firstNonZero(Object array, int from) {
    if (array instanceof boolean[] a) {
      return inPieces(from, a.length, (i, end) -> Arrays.mismatch(a, i, end, BOOLEANS, 0, end - i));
    } else if (array instanceof byte[] a) {
      return inPieces(from, a.length, (i, end) -> Arrays.mismatch(a, i, end, BYTES, 0, end - i));
    } else if (array instanceof char[] a) {
      return inPieces(from, a.length, (i, end) -> Arrays.mismatch(a, i, end, CHARS, 0, end - i));
    } else if (array instanceof short[] a) {
      return inPieces(from, a.length, (i, end) -> Arrays.mismatch(a, i, end, SHORTS, 0, end - i));
    } else if (array instanceof int[] a) {
      return inPieces(from, a.length, (i, end) -> Arrays.mismatch(a, i, end, INTS, 0, end - i));
    } else if (array instanceof long[] a) {
      return inPieces(from, a.length, (i, end) -> Arrays.mismatch(a, i, end, LONGS, 0, end - i));
    } else if (array instanceof float[] a) {
      return inPieces(from, a.length, (i, end) -> Arrays.mismatch(a, i, end, FLOATS, 0, end - i));
    } else if (array instanceof double[] a) {
      return inPieces(from, a.length, (i, end) -> Arrays.mismatch(a, i, end, DOUBLES, 0, end - i));
    }
    return firstReference((Object[]) array, from);
  }

  private interface Piece {
    /** The index of the first difference from zero, counted from {@code from}, or -1. */
    int mismatch(int from, int end);
  }

  private static int inPieces(int from, int length, Piece piece) {
    for (int i = from; i < length; i += PIECE) {
      int mismatch = piece.mismatch(i, Math.min(i + PIECE, length));
      if (mismatch >= 0) {
        return i + mismatch;
      }
    }
    return ALL_ZERO;
  }

  private static int firstReference(Object[] array, int from) {
    for (int i = from; i < array.length; i++) {
      if (array[i] != null) {
        return i;
      }
    }
    return ALL_ZERO;
  }

  /** Leaves no element zero; references point at a value the caller keeps alive. */
  static void scribble(Object array, Object reference) {
    if (array instanceof boolean[] a) {
      Arrays.fill(a, true);
    } else if (array instanceof byte[] a) {
      Arrays.fill(a, (byte) 0xa5);
    } else if (array instanceof char[] a) {
      Arrays.fill(a, (char) 0xa5a5);
    } else if (array instanceof short[] a) {
      Arrays.fill(a, (short) 0xa5a5);
    } else if (array instanceof int[] a) {
      Arrays.fill(a, 0xa5a5a5a5);
    } else if (array instanceof long[] a) {
      Arrays.fill(a, 0xa5a5a5a5a5a5a5a5L);
    } else if (array instanceof float[] a) {
      Arrays.fill(a, 1.5f);
    } else if (array instanceof double[] a) {
      Arrays.fill(a, 1.5);
    } else if (array.getClass() == Object[].class) {
      Arrays.fill((Object[]) array, reference);
    }
  }
}
