/** Allocates as many megabytes as it is told, in small objects that are filled and soon dropped. */
public final class AllocateSteadily {
  private static final int KEPT = 1 << 12;

  public static void main(String[] arguments) {
    long bytes = Long.parseLong(arguments[0]) << 20;
    int[][] kept = new int[KEPT][];
    long sum = 0;
    for (long allocated = 0, i = 0; allocated < bytes; i++) {
      int[] fresh = new int[16 + (int) (i & 15)];
      for (int at = 0; at < fresh.length; at += 4) {
        fresh[at] += (int) i;
      }
      kept[(int) i & (KEPT - 1)] = fresh;
      sum += fresh[0];
      allocated += 16 + 4L * fresh.length;
    }
    System.out.println(sum);
  }
}
