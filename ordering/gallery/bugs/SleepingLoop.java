package bugs;

/**
 * A thread sleeps between two looks at a flag. The Java Language Specification (17.3) says that a
 * compiler may still look once; HotSpot does not.
 *
 * <p>Shows with: --weak
 *
 * <p>Lacks: bugs.SleepingLoop.done
 */
final class SleepingLoop {
  private boolean done;

  private void await() {
    while (!done) {
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    SleepingLoop loop = new SleepingLoop();
    Thread waiting = new Thread(loop::await, "waiting");
    waiting.setDaemon(true);
    waiting.start();
    Thread.sleep(50);
    loop.done = true;
    waiting.join(500);
    if (waiting.isAlive()) {
      System.out.println("it waits for what is done");
      System.exit(1);
    }
  }
}
