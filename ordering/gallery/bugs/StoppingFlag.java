package bugs;

/**
 * A monitor looks at a flag until the application stops. The compiler reads the flag once, before
 * the loop. The pattern of SPARK-4282.
 *
 * <p>Lacks: bugs.StoppingFlag.stopping
 */
final class StoppingFlag {
  private boolean stopping;
  private long reports;

  private void monitor() {
    while (!stopping) {
      reports++;
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    StoppingFlag application = new StoppingFlag();
    Thread monitor = new Thread(application::monitor, "monitor");
    monitor.setDaemon(true);
    monitor.start();
    Thread.sleep(300);
    application.stopping = true;
    monitor.join(1000);
    if (monitor.isAlive()) {
      System.out.println("the monitor goes on");
      System.exit(1);
    }
  }
}
