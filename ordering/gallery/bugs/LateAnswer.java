package bugs;

import java.util.concurrent.CyclicBarrier;

/**
 * A cache keeps a length and an array of that length, both plain. A reader may see the new length
 * with the elements of before.
 *
 * <p>Shows with: --weak
 *
 * <p>Lacks: bugs.LateAnswer$Cache.length
 */
final class LateAnswer {
  private static final class Cache {
    private int[] values = new int[4];
    private int length;

    void fill() {
      for (int i = 0; i < values.length; i++) {
        values[i] = 9;
      }
      length = values.length;
    }

    int last() {
      for (int looks = 0; looks < 100; looks++) {
        int known = length;
        if (known > 0) {
          return values[known - 1];
        }
      }
      return 9;
    }
  }

  public static void main(String[] arguments) throws Exception {
    CyclicBarrier together = new CyclicBarrier(2);
    Cache[] caches = new Cache[500];
    for (int i = 0; i < caches.length; i++) {
      caches[i] = new Cache();
    }
    Thread filler =
        new Thread(
            () -> {
              for (Cache cache : caches) {
                Rounds.await(together);
                cache.fill();
              }
            },
            "filler");
    filler.start();
    int wrong = 0;
    for (Cache cache : caches) {
      Rounds.await(together);
      wrong += cache.last() == 9 ? 0 : 1;
    }
    filler.join();
    if (wrong > 0) {
      System.out.println(wrong + " values were read before they were there");
      System.exit(1);
    }
  }
}
