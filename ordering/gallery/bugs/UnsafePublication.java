package bugs;

import java.util.concurrent.CyclicBarrier;

/**
 * A thread makes an object and puts it where another one finds it, which may see the object before
 * what the constructor stored there. The pattern of SHIRO-762 and CASSANDRA-2490.
 *
 * <p>Shows with: --weak
 *
 * <p>Lacks: bugs.UnsafePublication$Settings.current
 */
final class UnsafePublication {
  private static final class Manager {
    private int limit;

    Manager(int limit) {
      this.limit = limit;
    }
  }

  private static final class Settings {
    private Manager current;

    void reload() {
      current = new Manager(7);
    }

    int limit() {
      for (int looks = 0; looks < 100; looks++) {
        Manager manager = current;
        if (manager != null) {
          return manager.limit;
        }
      }
      return 7;
    }
  }

  public static void main(String[] arguments) throws Exception {
    CyclicBarrier together = new CyclicBarrier(2);
    Settings[] all = new Settings[500];
    for (int i = 0; i < all.length; i++) {
      all[i] = new Settings();
    }
    Thread loader =
        new Thread(
            () -> {
              for (Settings settings : all) {
                Rounds.await(together);
                settings.reload();
              }
            },
            "loader");
    loader.start();
    int wrong = 0;
    for (Settings settings : all) {
      Rounds.await(together);
      wrong += settings.limit() == 7 ? 0 : 1;
    }
    loader.join();
    if (wrong > 0) {
      System.out.println(wrong + " managers were seen without their limit");
      System.exit(1);
    }
  }
}
