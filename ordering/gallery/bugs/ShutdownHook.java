package bugs;

/**
 * A static flag says that the JVM is going down, and workers look at it between two pieces of work.
 * The pattern of CASSANDRA-11984.
 *
 * <p>Lacks: bugs.ShutdownHook.shuttingDown
 */
final class ShutdownHook {
  private static boolean shuttingDown;

  private static long work(long seed) {
    return seed * 6364136223846793005L + 1442695040888963407L;
  }

  private static void serve() {
    long state = 1;
    while (!shuttingDown) {
      state = work(state);
    }
    System.out.println("served until " + state);
  }

  public static void main(String[] arguments) throws InterruptedException {
    Thread worker = new Thread(ShutdownHook::serve, "worker");
    worker.setDaemon(true);
    worker.start();
    Thread.sleep(300);
    shuttingDown = true;
    worker.join(1000);
    if (worker.isAlive()) {
      System.out.println("a worker goes on");
      System.exit(1);
    }
  }
}
