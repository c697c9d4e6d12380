package gallery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** The bugs of the gallery, each cut down to what two threads do once or twice. */
class BugsTest {
  private static final int LOOKS = 2;

  static final class Application {
    String identifier;

    void await() {
      for (int looks = 0; identifier == null && looks < LOOKS; looks++) {}
    }
  }

  @Test
  void applicationId() throws InterruptedException {
    Both.run(
        "ApplicationId",
        Application::new,
        Application::await,
        application -> application.identifier = "application-1",
        application -> {});
  }

  static final class Service {
    long port;
    boolean open;

    Service() {
      port = 8080;
      open = true;
    }
  }

  static final class Registry {
    Service service;

    void get() {
      if (service == null) {
        synchronized (this) {
          if (service == null) {
            service = new Service();
          }
        }
      }
      assertTrue(service.open && service.port == 8080);
    }
  }

  @Test
  void doubleCheckedLocking() throws InterruptedException {
    Both.run("DoubleCheckedLocking", Registry::new, Registry::get, Registry::get, done -> {});
  }

  static final class Table {
    static final int NONE = -1;
    int current;
    int announced = NONE;
    volatile int freed = NONE;

    void write() {
      current = 1;
      if (announced != 0) {
        freed = 0;
      }
    }

    void use() {
      int version = current;
      if (freed == version) {
        return;
      }
      announced = version;
      boolean mine = current == version;
      assertTrue(!(mine && freed == version));
      announced = NONE;
    }
  }

  @Test
  void freedInUse() throws InterruptedException {
    Both.run("FreedInUse", Table::new, Table::write, Table::use, table -> {});
  }

  static final class Cache {
    final int[] values = new int[2];
    int length;

    void fill() {
      values[0] = 9;
      values[1] = 9;
      length = 2;
    }

    void last() {
      int known = length;
      assertTrue(known == 0 || values[known - 1] == 9);
    }
  }

  @Test
  void lateAnswer() throws InterruptedException {
    Both.run("LateAnswer", Cache::new, Cache::fill, Cache::last, cache -> {});
  }

  static final class Mail {
    int letter;
    boolean there;

    void send() {
      letter = 42;
      there = true;
    }

    void receive() {
      assertTrue(!there || letter == 42);
    }
  }

  @Test
  void messagePassing() throws InterruptedException {
    Both.run("MessagePassing", Mail::new, Mail::send, Mail::receive, mail -> {});
  }

  static final class Peterson {
    boolean wants0;
    boolean wants1;
    int turn;
    int inside;

    void first() {
      wants0 = true;
      turn = 1;
      if (!(wants1 && turn == 1)) {
        inside++;
      }
      wants0 = false;
    }

    void second() {
      wants1 = true;
      turn = 0;
      if (!(wants0 && turn == 0)) {
        inside++;
      }
      wants1 = false;
    }
  }

  @Test
  void petersonsLock() throws InterruptedException {
    Both.run("PetersonsLock", Peterson::new, Peterson::first, Peterson::second, lock -> {});
  }

  record Configuration(int version, int queues) {}

  static final class Scheduler {
    Configuration configuration = new Configuration(1, 4);
    int turns;

    void run() {
      for (int looks = 0; configuration.version() == 1 && looks < LOOKS; looks++) {
        turns += configuration.queues();
      }
    }
  }

  @Test
  void reloadedConfiguration() throws InterruptedException {
    Both.run(
        "ReloadedConfiguration",
        Scheduler::new,
        Scheduler::run,
        scheduler -> scheduler.configuration = new Configuration(2, 8),
        scheduler -> {});
  }

  static boolean shuttingDown;

  @Test
  void shutdownHook() throws InterruptedException {
    Both.run(
        "ShutdownHook",
        () -> {
          shuttingDown = false;
          return "";
        },
        any -> {
          for (int looks = 0; !shuttingDown && looks < LOOKS; looks++) {}
        },
        any -> shuttingDown = true,
        any -> {});
  }

  static final class Loop {
    boolean done;

    void await() throws InterruptedException {
      for (int looks = 0; !done && looks < LOOKS; looks++) {
        Thread.sleep(1);
      }
    }
  }

  @Test
  void sleepingLoop() throws InterruptedException {
    Both.run("SleepingLoop", Loop::new, Loop::await, loop -> loop.done = true, loop -> {});
  }

  static final class Server {
    int requests;
    volatile int answers;
    boolean asleep;
    volatile Thread worker;

    void work() {
      worker = Thread.currentThread();
      if (answers == requests) {
        asleep = true;
        if (answers == requests) {
          LockSupport.parkNanos(1);
        }
        asleep = false;
      } else {
        answers = answers + 1;
      }
    }

    void request() {
      requests++;
      if (asleep) {
        LockSupport.unpark(worker);
      }
    }
  }

  @Test
  void sleepyWorker() throws InterruptedException {
    Both.run("SleepyWorker", Server::new, Server::work, Server::request, server -> {});
  }

  static final class Ring {
    final boolean[] full = new boolean[8];

    void take() {
      for (int looks = 0; !full[3] && looks < LOOKS; looks++) {}
    }

    void put() {
      full[3] = true;
    }
  }

  @Test
  void slotReady() throws InterruptedException {
    Both.run("SlotReady", Ring::new, Ring::take, Ring::put, ring -> {});
  }

  static final class Monitored {
    boolean stopping;
    long reports;

    void monitor() {
      for (int looks = 0; !stopping && looks < LOOKS; looks++) {
        reports++;
      }
    }
  }

  @Test
  void stoppingFlag() throws InterruptedException {
    Both.run(
        "StoppingFlag",
        Monitored::new,
        Monitored::monitor,
        application -> application.stopping = true,
        application -> {});
  }

  static final class Pair {
    int version;
    int left;
    int right;

    void write() {
      version++;
      left = 1;
      right = 1;
      version++;
    }

    void read() {
      int before = version;
      int a = left;
      int b = right;
      assertTrue(before != version || (before & 1) != 0 || a == b);
    }
  }

  @Test
  void tornPair() throws InterruptedException {
    Both.run("TornPair", Pair::new, Pair::write, Pair::read, pair -> {});
  }

  static final class Manager {
    int limit;

    Manager(int limit) {
      this.limit = limit;
    }
  }

  static final class Settings {
    Manager current;

    void reload() {
      current = new Manager(7);
    }

    void limit() {
      Manager manager = current;
      assertEquals(7, manager == null ? 7 : manager.limit);
    }
  }

  @Test
  void unsafePublication() throws InterruptedException {
    Both.run("UnsafePublication", Settings::new, Settings::reload, Settings::limit, done -> {});
  }

  static final class Quorum {
    final int[] nodes = {3, 1, 4, 1, 5};
    boolean stopped;
    int majority;

    void run() {
      for (int looks = 0; !stopped && looks < LOOKS; looks++) {
        int votes = 0;
        for (int node : nodes) {
          votes += node & 1;
        }
        majority = Math.max(majority, votes);
      }
    }
  }

  @Test
  void voteLoop() throws InterruptedException {
    Both.run("VoteLoop", Quorum::new, Quorum::run, quorum -> quorum.stopped = true, done -> {});
  }
}
