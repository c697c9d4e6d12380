package org.memgraft.workloads.churn;

import java.lang.reflect.Array;
import java.util.Arrays;
import java.util.Random;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.Worker;
import org.memgraft.workloads.harness.WorkloadFailure;

/**
 * One thread's storms. What a storm allocates depends on its number only.
 *
 * <p>Arrays and objects are allocated by plain {@code new} wherever possible: C2 and C1 then bump
 * the TLAB's pointer in line, which is the path of interest. Arrays too large for that, reflection
 * and arrays of arrays go through the runtime's slow paths.
 */
final class Storm implements Worker {
  private static final int STEPS = 400;
  private static final int TREE_DEPTH = 9;
  private static final int CHAINS_PER_STORM = 4;
  private static final int STORMS_PER_VERIFICATION = 16;

  private static final int KIB = 1024;

  /** Elements of 1 to 8 bytes: the largest arrays have 0.5 to 4 MiB, humongous objects for G1. */
  private static final int LARGEST = 512 * KIB;

  private static final Class<?>[] COMPONENTS = {
    boolean.class,
    byte.class,
    char.class,
    short.class,
    int.class,
    long.class,
    float.class,
    double.class,
    Object.class
  };

  private final BlindSpot blindSpot = new BlindSpot();
  private final Survivors survivors = new Survivors();
  private int storms;

  @Override
  public long run(int item) throws WorkloadFailure {
    Random random = new Random(item);
    Tree tree = Tree.grow(TREE_DEPTH, 1);
    long checksum = 0;
    for (int step = 0; step < STEPS; step++) {
      checksum += step(random);
    }
    for (int i = 0; i < CHAINS_PER_STORM; i++) {
      survivors.replaceOne(random);
    }
    if (storms++ % STORMS_PER_VERIFICATION == 0) {
      survivors.verify();
    }
    return Checksum.of(item, checksum, tree.sum());
  }

  /** Returns something that depends on the random numbers only. */
  private long step(Random random) throws WorkloadFailure {
    int component = random.nextInt(COMPONENTS.length);
    int length = length(random);
    switch (random.nextInt(8)) {
      case 0 -> objects();
      case 1 -> fixedLengths();
      case 2 -> grown(length);
      case 3 -> filledAtOnce(length);
      case 4 -> checkAndScribble(Array.newInstance(COMPONENTS[component], length));
      case 5 -> arrayOfArrays(1 + length % 32);
      default -> checkAndScribble(allocate(component, length));
    }
    return length;
  }

  /** Mostly short, as in most programs; all sizes bring about as many bytes. */
  private static int length(Random random) {
    int chance = random.nextInt(4000);
    if (chance < 3000) {
      return random.nextInt(64);
    }
    if (chance < 3900) {
      return random.nextInt(KIB);
    }
    if (chance < 3998) {
      return random.nextInt(16 * KIB);
    }
    return random.nextInt(LARGEST);
  }

  private static Object allocate(int component, int length) {
    return switch (component) {
      case 0 -> new boolean[length];
      case 1 -> new byte[length];
      case 2 -> new char[length];
      case 3 -> new short[length];
      case 4 -> new int[length];
      case 5 -> new long[length];
      case 6 -> new float[length];
      case 7 -> new double[length];
      default -> new Object[length];
    };
  }

  private void checkAndScribble(Object fresh) throws DirtyMemory {
    Object array = blindSpot.pass(fresh);
    FreshArray.check(array, 0);
    FreshArray.scribble(array, this);
  }

  private void objects() throws DirtyMemory {
    checkAndScribble(new FreshObject.Tiny());
    checkAndScribble(new FreshObject.Mixed());
    checkAndScribble(new FreshObject.Wide());
  }

  private void checkAndScribble(FreshObject fresh) throws DirtyMemory {
    FreshObject object = (FreshObject) blindSpot.pass(fresh);
    object.check();
    object.scribble(this);
  }

  /** C2 clears arrays of a length it knows with a few stores instead of a loop. */
  private void fixedLengths() throws DirtyMemory {
    checkAndScribble(new byte[1]);
    checkAndScribble(new byte[17]);
    checkAndScribble(new char[3]);
    checkAndScribble(new int[4]);
    checkAndScribble(new long[7]);
    checkAndScribble(new Object[5]);
  }

  /** Of a copy that is longer than its original, C2 clears only the end. */
  private void grown(int length) throws WorkloadFailure {
    long[] original = new long[length / 2];
    Arrays.fill(original, length);
    long[] grown = (long[]) blindSpot.pass(Arrays.copyOf(original, length));
    requireAll(grown, 0, original.length, length);
    FreshArray.check(grown, original.length);
    FreshArray.scribble(grown, this);
  }

  /** What is filled at once, C2 does not clear at all. */
  private void filledAtOnce(int length) throws WorkloadFailure {
    long[] filled = new long[length];
    Arrays.fill(filled, length);
    long[] copy = (long[]) blindSpot.pass(((long[]) blindSpot.pass(filled)).clone());
    requireAll(copy, 0, length, length);
  }

  private static void requireAll(long[] array, int from, int end, long expected)
      throws WorkloadFailure {
    for (int i = from; i < end; i++) {
      if (array[i] != expected) {
        throw new WorkloadFailure(
            ("a copied long[] of length %d holds %d at index %d, expected %d:"
                    + " memory was cleared late or handed out twice")
                .formatted(array.length, array[i], i, expected));
      }
    }
  }

  private void arrayOfArrays(int length) throws DirtyMemory {
    int[][] arrays = (int[][]) blindSpot.pass(new int[length][length]);
    for (int[] array : arrays) {
      FreshArray.check(array, 0);
      FreshArray.scribble(array, this);
    }
  }
}
