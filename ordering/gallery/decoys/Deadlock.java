package decoys;

import java.util.concurrent.CountDownLatch;

/** Two threads take two locks in different orders. */
final class Deadlock {
  private static void both(Object first, Object second, CountDownLatch held) {
    synchronized (first) {
      held.countDown();
      try {
        held.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      synchronized (second) {
        System.out.println("has both");
      }
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    Object one = new Object();
    Object two = new Object();
    CountDownLatch held = new CountDownLatch(2);
    Thread there = new Thread(() -> both(one, two, held), "there");
    Thread back = new Thread(() -> both(two, one, held), "back");
    there.setDaemon(true);
    back.setDaemon(true);
    there.start();
    back.start();
    there.join(500);
    if (there.isAlive()) {
      System.out.println("neither has both");
      System.exit(1);
    }
  }
}
