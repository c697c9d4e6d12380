package bugs;

/**
 * A scheduler works by a configuration that another thread replaces as a whole. The object is
 * immutable, and the field that refers to it is plain. The pattern of YARN-8323.
 *
 * <p>Lacks: bugs.ReloadedConfiguration$Scheduler.configuration
 */
final class ReloadedConfiguration {
  private record Configuration(int version, int queues) {}

  private static final class Scheduler implements Runnable {
    private Configuration configuration = new Configuration(1, 4);
    private int turns;

    @Override
    public void run() {
      while (configuration.version() == 1) {
        turns += configuration.queues();
      }
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    Scheduler scheduler = new Scheduler();
    Thread thread = new Thread(scheduler, "scheduler");
    thread.setDaemon(true);
    thread.start();
    Thread.sleep(300);
    scheduler.configuration = new Configuration(2, 8);
    thread.join(1000);
    if (thread.isAlive()) {
      System.out.println("the scheduler works by the old configuration");
      System.exit(1);
    }
  }
}
