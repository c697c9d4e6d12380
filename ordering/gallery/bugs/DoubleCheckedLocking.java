package bugs;

import java.util.concurrent.CyclicBarrier;

/**
 * Whoever comes first makes the service, under a lock; whoever comes later finds it without one,
 * and perhaps unfinished.
 *
 * <p>Shows with: --weak
 *
 * <p>Lacks: bugs.DoubleCheckedLocking$Registry.service
 */
final class DoubleCheckedLocking {
  private static final class Service {
    private long port;
    private boolean open;

    Service() {
      port = 8080;
      open = true;
    }
  }

  private static final class Registry {
    private Service service;

    Service get() {
      if (service == null) {
        synchronized (this) {
          if (service == null) {
            service = new Service();
          }
        }
      }
      return service;
    }

    boolean works() {
      Service found = get();
      return found == null || (found.open && found.port == 8080);
    }
  }

  public static void main(String[] arguments) throws Exception {
    CyclicBarrier together = new CyclicBarrier(2);
    Registry[] all = new Registry[1000];
    for (int i = 0; i < all.length; i++) {
      all[i] = new Registry();
    }
    boolean[] broken = new boolean[2];
    Thread other = new Thread(() -> broken[1] = anyBroken(all, together, 0), "other");
    other.start();
    broken[0] = anyBroken(all, together, 20_000);
    other.join();
    if (broken[0] || broken[1]) {
      System.out.println("a service was found that was not ready");
      System.exit(1);
    }
  }

  /** Whoever has other work first comes second. */
  private static boolean anyBroken(Registry[] all, CyclicBarrier together, int work) {
    boolean broken = false;
    long state = System.nanoTime();
    for (Registry registry : all) {
      Rounds.await(together);
      for (int i = 0; i < work; i++) {
        state = state * 6364136223846793005L + 1;
      }
      broken |= state == 0;
      broken |= !registry.works();
    }
    return broken;
  }
}
