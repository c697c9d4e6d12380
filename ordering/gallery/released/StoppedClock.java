package released;

import org.joda.time.DateTimeUtils;

/**
 * Joda-Time 1.6: a test stops the library's clock, and a thread that waits for a time goes on with
 * the old one. Its release 1.6.1 made the field volatile.
 *
 * <p>Lacks: org.joda.time.DateTimeUtils.cMillisProvider
 */
final class StoppedClock {
  private static final long STOPPED_AT = 7;

  private StoppedClock() {}

  private static void await() {
    while (DateTimeUtils.currentTimeMillis() != STOPPED_AT) {
      // It has not been stopped yet.
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    Thread waiting = new Thread(StoppedClock::await, "waiting");
    waiting.setDaemon(true);
    waiting.start();
    Thread.sleep(300);
    DateTimeUtils.setCurrentMillisFixed(STOPPED_AT);
    waiting.join(1000);
    if (waiting.isAlive()) {
      System.out.println("the clock was stopped, and a thread goes on with the other one");
      System.exit(1);
    }
  }
}
