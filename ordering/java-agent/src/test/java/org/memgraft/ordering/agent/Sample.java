package org.memgraft.ordering.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.IntSupplier;

/** Accesses memory in each way that bytecode can. Its result does not depend on fences. */
public final class Sample implements IntSupplier {
  private static final VarHandle HANDLE;
  private static final MethodHandle GETTER;
  static long total = 7;
  static int[] shared = {9};

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      HANDLE = lookup.findVarHandle(Sample.class, "field", int.class);
      GETTER = lookup.findGetter(Sample.class, "field", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  int field = 1;
  volatile int ordered = 2;
  Object reference = "three";

  private final class Inner {
    int sum() {
      return field + ordered;
    }
  }

  @Override
  public int getAsInt() {
    int sum = new Inner().sum();
    boolean[] booleans = {true};
    byte[] bytes = {1};
    char[] chars = {2};
    short[] shorts = {3};
    int[] ints = {4, 5};
    long[] longs = {6};
    float[] floats = {7};
    double[] doubles = {8};
    Object[] objects = {reference};
    for (int i = 0; i < ints.length; i++) {
      sum += ints[i]++;
    }
    // Others may have both.
    field |= 1;
    shared[0] = field;
    sum += (booleans[0] ? 1 : 0) + bytes[0] + chars[0] + shorts[0];
    sum += (int) (longs[0] + floats[0] + doubles[0]) + objects[0].hashCode();
    return sum + handles() + copies(ints) + (int) total++ + thrown();
  }

  private int handles() {
    try {
      HANDLE.setRelease(this, (int) HANDLE.getAcquire(this) + 1);
      while (!HANDLE.weakCompareAndSetPlain(this, 2, 3)) {
        Thread.onSpinWait();
      }
      HANDLE.setVolatile(this, (int) HANDLE.getVolatile(this) + 1);
      return (int) GETTER.invokeExact(this);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  private static int copies(int[] ints) {
    int[] copy = ints.clone();
    System.arraycopy(ints, 0, copy, 1, 1);
    return Arrays.stream(Arrays.copyOf(copy, 3)).sum();
  }

  /** An access in code that is reached by an exception and by a jump. */
  private int thrown() {
    try {
      return ((Sample) reference).field;
    } catch (ClassCastException e) {
      ordered = 5;
      return field > 2 ? field : ordered;
    }
  }
}
