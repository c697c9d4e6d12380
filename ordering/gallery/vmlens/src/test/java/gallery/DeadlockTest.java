package gallery;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** One more decoy, apart from the others: VMLens says that it is deadlocked, and then it is. */
class DeadlockTest {
  static final class Locks {
    final Object one = new Object();
    final Object two = new Object();
    final AtomicInteger both = new AtomicInteger();

    void there() {
      synchronized (one) {
        synchronized (two) {
          both.incrementAndGet();
        }
      }
    }

    void back() {
      synchronized (two) {
        synchronized (one) {
          both.incrementAndGet();
        }
      }
    }
  }

  @Test
  void deadlock() throws InterruptedException {
    Both.run(
        "Deadlock",
        Locks::new,
        Locks::there,
        Locks::back,
        locks -> assertEquals(2, locks.both.get()));
  }
}
