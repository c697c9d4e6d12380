import java.lang.ref.WeakReference;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tells on which NUMA node the objects lie that a thread of each node has just allocated: one line
 * per thread. Arguments: the native library, how many collections to allocate through, then a CPU
 * of each node.
 *
 * <p>The first thread at first allocates alone, so that all of eden has been touched from its node;
 * only then do the others start.
 */
final class PlaceObjects {
  private static final int OBJECTS = 2500;
  private static final int BYTES = 1000;
  private static final int COLLECTIONS_ALONE = 2;
  private static final int SAMPLES = 4;

  /**
   * More than buffers and spares hold when eden has no more: then a thread takes another node's.
   */
  private static final int MOST_LEFT = 12 << 20;

  private PlaceObjects() {}

  static native void stayOn(int cpu);

  /** The node of the page in which the array's contents begin; negative where there is none. */
  static native int nodeOf(byte[] array);

  public static void main(String[] arguments) throws Exception {
    System.load(arguments[0]);
    int collections = Integer.parseInt(arguments[1]);
    int nodes = arguments.length - 2;
    var others = new CyclicBarrier(nodes);
    var measuring = new AtomicInteger(nodes);
    stayOn(Integer.parseInt(arguments[2])); // what this thread touches is on the first node, too
    for (int node = 0; node < nodes; node++) {
      int cpu = Integer.parseInt(arguments[2 + node]);
      int own = node;
      new Thread(
              () -> {
                try {
                  stayOn(cpu);
                  var random = new Random(own);
                  if (own == 0) {
                    allocateThrough(COLLECTIONS_ALONE, random);
                  }
                  others.await();
                  allocateThrough(collections, random);
                  others.await();
                  String places = places(own, random);
                  // All allocate until the last one has measured: as before, and no one alone.
                  measuring.decrementAndGet();
                  while (measuring.get() > 0) {
                    allocateThrough(1, random);
                  }
                  System.out.println(places);
                } catch (Exception broken) {
                  throw new IllegalStateException(broken);
                }
              })
          .start();
    }
  }

  private static String places(int own, Random random) {
    int local = 0;
    int remote = 0;
    int absent = 0;
    var objects = new byte[OBJECTS][];
    for (int sample = 0; sample < SAMPLES; ) {
      allocateThrough(1, random);
      // Anywhere in eden, not at its beginning only.
      for (int skipped = random.nextInt(10 * OBJECTS); skipped > 0; skipped--) {
        objects[0] = new byte[BYTES];
      }
      int localNow = 0;
      int remoteNow = 0;
      int absentNow = 0;
      var collected = new WeakReference<>(new Object());
      for (int i = 0; i < OBJECTS; i++) {
        objects[i] = new byte[BYTES];
      }
      for (byte[] object : objects) {
        int node = nodeOf(object);
        localNow += node == own ? 1 : 0;
        absentNow += node < 0 ? 1 : 0;
        remoteNow += node >= 0 && node != own ? 1 : 0;
      }
      for (int more = 0; more < MOST_LEFT / BYTES; more++) {
        objects[0] = new byte[BYTES];
      }
      // Otherwise some were copied out of eden meanwhile, or eden had come to its end.
      if (!collected.refersTo(null)) {
        sample++;
        local += localNow;
        remote += remoteNow;
        absent += absentNow;
      }
    }
    return "objects node=" + own + " local=" + local + " remote=" + remote + " absent=" + absent;
  }

  /** Until that many collections have been seen. */
  private static void allocateThrough(int collections, Random random) {
    byte[] last = null;
    for (int seen = 0; seen < collections; seen++) {
      var collected = new WeakReference<>(new Object());
      while (!collected.refersTo(null)) {
        for (int i = 0; i < 64; i++) {
          last = new byte[BYTES];
        }
      }
      if (last.length != BYTES) {
        throw new IllegalStateException();
      }
    }
  }
}
