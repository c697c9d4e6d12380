package gallery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The decoys of the gallery, likewise. Two have nothing that depends on an interleaving, and so no
 * test here: OffByOne and FlakyTimeout.
 */
class DecoysTest {
  static final class Pool {
    final ConcurrentHashMap<Integer, String> connections = new ConcurrentHashMap<>();
    final AtomicInteger opened = new AtomicInteger();

    void connection() {
      if (!connections.containsKey(1)) {
        connections.put(1, "connection " + opened.incrementAndGet());
      }
    }
  }

  @Test
  void checkThenAct() throws InterruptedException {
    Both.run(
        "CheckThenAct",
        Pool::new,
        Pool::connection,
        Pool::connection,
        pool -> assertEquals(1, pool.opened.get()));
  }

  static final class Signal {
    volatile boolean given;
    volatile boolean got;

    void await() throws InterruptedException {
      synchronized (this) {
        wait(100);
        got = true;
      }
    }

    void give() {
      synchronized (this) {
        given = true;
        notifyAll();
      }
    }
  }

  @Test
  void lostSignal() throws InterruptedException {
    Both.run(
        "LostSignal", Signal::new, Signal::await, Signal::give, signal -> assertTrue(signal.got));
  }

  static final class Counter {
    int count;

    void add() {
      count++;
    }
  }

  @Test
  void lostUpdates() throws InterruptedException {
    Both.run(
        "LostUpdates",
        Counter::new,
        Counter::add,
        Counter::add,
        counter -> assertEquals(2, counter.count));
  }

  @Test
  void sharedFormat() throws InterruptedException {
    Both.run(
        "SharedFormat",
        () -> new SimpleDateFormat("yyyy-MM-dd"),
        format -> assertEquals("1970-01-01", format.format(new Date(0))),
        format -> assertEquals("1971-02-05", format.format(new Date(86_400_000L * 400))),
        format -> {});
  }

  @Test
  void sharedList() throws InterruptedException {
    Both.<List<Integer>>run(
        "SharedList",
        ArrayList::new,
        list -> list.add(1),
        list -> list.add(2),
        list -> assertEquals(2, list.size()));
  }

  static final class Worker {
    volatile int done;
  }

  @Test
  void tooEarly() throws InterruptedException {
    Both.run(
        "TooEarly",
        Worker::new,
        worker -> worker.done = 1,
        worker -> assertEquals(1, worker.done),
        worker -> {});
  }

  static long total;

  @Test
  void wrongLock() throws InterruptedException {
    Both.run(
        "WrongLock",
        () -> {
          total = 0;
          return new Object[] {new Object(), new Object()};
        },
        locks -> {
          synchronized (locks[0]) {
            total++;
          }
        },
        locks -> {
          synchronized (locks[1]) {
            total++;
          }
        },
        locks -> assertEquals(2, total));
  }
}
