package bugs;

import java.util.concurrent.CyclicBarrier;

/**
 * Two threads take turns by Peterson's algorithm. Each one says that it wants to enter, and then
 * looks whether the other one does; both may look before the other sees what they said. Besides,
 * the compiler may say that a thread has left before it stores what was done inside. How many of
 * the three fields show depends on the machine.
 *
 * <p>Lacks: some of bugs.PetersonsLock.turn and bugs.PetersonsLock.wants0 and
 * bugs.PetersonsLock.wants1
 */
final class PetersonsLock {
  private static final int ROUNDS = 1_000_000;

  private boolean wants0;
  private boolean wants1;
  private int turn;
  private int inside;

  private void first() {
    for (int i = 0; i < ROUNDS; i++) {
      wants0 = true;
      turn = 1;
      while (wants1 && turn == 1) {
        Thread.onSpinWait();
      }
      inside++;
      wants0 = false;
    }
  }

  private void second() {
    for (int i = 0; i < ROUNDS; i++) {
      wants1 = true;
      turn = 0;
      while (wants0 && turn == 0) {
        Thread.onSpinWait();
      }
      inside++;
      wants1 = false;
    }
  }

  private static Thread starting(CyclicBarrier start, Runnable work, String name) {
    Thread thread =
        new Thread(
            () -> {
              try {
                start.await();
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
              work.run();
            },
            name);
    thread.start();
    return thread;
  }

  public static void main(String[] arguments) throws InterruptedException {
    PetersonsLock lock = new PetersonsLock();
    CyclicBarrier start = new CyclicBarrier(2);
    Thread first = starting(start, lock::first, "first");
    Thread second = starting(start, lock::second, "second");
    first.join();
    second.join();
    if (lock.inside != 2 * ROUNDS) {
      System.out.println("both were inside: " + (2 * ROUNDS - lock.inside) + " updates lost");
      System.exit(1);
    }
  }
}
