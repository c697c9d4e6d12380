/**
 * Allocates as many megabytes as it is told, in small objects that are worked on and soon dropped.
 */
public final class AllocateSteadily {
  private static final int KEPT = 1 << 12;
  private static final int ROUNDS = 8;

  public static void main(String[] arguments) {
    long bytes = Long.parseLong(arguments[0]) << 20;
    int[][] kept = new int[KEPT][];
    int sum = 0;
    for (long allocated = 0, i = 0; allocated < bytes; i++) {
      int[] fresh = new int[16 + (int) (i & 15)];
      sum += work(fresh, (int) i);
      kept[(int) i & (KEPT - 1)] = fresh;
      allocated += 16 + 4L * fresh.length;
    }
    System.out.println(sum);
  }

  /**
   * Takes long enough that the time of an epoch is that of the program and not that of its refills.
   */
  private static int work(int[] array, int seed) {
    int state = seed;
    for (int round = 0; round < ROUNDS; round++) {
      for (int at = 0; at < array.length; at++) {
        state = state * 1_664_525 + 1_013_904_223 + array[at];
        array[at] = state;
      }
    }
    return state;
  }
}
