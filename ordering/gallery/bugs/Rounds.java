package bugs;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/** Lets two threads begin a round together. */
final class Rounds {
  private Rounds() {}

  static void await(CyclicBarrier together) {
    try {
      together.await();
    } catch (InterruptedException | BrokenBarrierException e) {
      throw new IllegalStateException(e);
    }
  }
}
