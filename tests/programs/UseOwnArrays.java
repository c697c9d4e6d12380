import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/**
 * Threads, one for each CPU, that use arrays which the main thread has made. They end and others
 * take their place, and all the while there is garbage. Arguments: the native library, for how many
 * milliseconds, then the CPUs.
 *
 * <p>At the end one line for each CPU: on which nodes the arrays lie that its threads used. Exit
 * code 1 as soon as one does not contain what it should.
 */
final class UseOwnArrays {
  private static final int ARRAYS = 512;
  private static final int BYTES = 8000; // none of them has a page alone
  private static final int USES_OF_A_THREAD = 40;

  private static volatile byte[] garbage;

  private UseOwnArrays() {}

  public static void main(String[] arguments) throws Exception {
    System.load(arguments[0]);
    long end = System.nanoTime() + Long.parseLong(arguments[1]) * 1_000_000;
    int[] cpus = Arrays.stream(arguments).skip(2).mapToInt(Integer::parseInt).toArray();
    PlaceObjects.stayOn(cpus[0]);
    byte[][][] arrays = new byte[cpus.length][ARRAYS][BYTES];
    // They shall lie where they stay: in the old generation.
    System.gc();
    var done = new CountDownLatch(cpus.length);
    for (int i = 0; i < cpus.length; i++) {
      int own = i;
      new Thread(() -> begin(cpus[own], arrays[own], 0, end, done)).start();
    }
    done.await();
    for (int i = 0; i < cpus.length; i++) {
      System.out.println("arrays cpu=" + cpus[i] + " " + places(arrays[i]));
    }
  }

  private static void begin(int cpu, byte[][] arrays, int uses, long end, CountDownLatch done) {
    PlaceObjects.stayOn(cpu);
    int now = uses;
    while (now < uses + USES_OF_A_THREAD && System.nanoTime() < end) {
      for (byte[] array : arrays) {
        check(array, (byte) now);
        Arrays.fill(array, (byte) (now + 1));
      }
      garbage = new byte[BYTES];
      now++;
    }
    if (System.nanoTime() >= end) {
      for (byte[] array : arrays) {
        check(array, (byte) now);
      }
      done.countDown();
      return;
    }
    int next = now;
    new Thread(() -> begin(cpu, arrays, next, end, done)).start();
  }

  private static void check(byte[] array, byte expected) {
    for (byte found : array) {
      if (found != expected) {
        System.out.println("found " + found + ", expected " + expected);
        Runtime.getRuntime().halt(1);
      }
    }
  }

  private static String places(byte[][] arrays) {
    int[] onNode = new int[8];
    for (byte[] array : arrays) {
      onNode[Math.max(PlaceObjects.nodeOf(array), 0)]++;
    }
    return "nodes=" + String.join(",", Arrays.stream(onNode).mapToObj(Integer::toString).toList());
  }
}
