import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.locks.LockSupport;

/**
 * A small server. A client leaves requests; a worker answers them, and sleeps when it has looked
 * for more a few times; a heartbeat counts as long as the server runs. The logic is right. But the
 * fields that threads share should be {@code volatile}, and are not:
 *
 * <ul>
 *   <li>The client leaves a request, and looks whether the worker sleeps. The worker says that it
 *       sleeps, and looks whether there is a request. A CPU may look before others see what it has
 *       said. Then the worker sleeps over a request, and nobody wakes it.
 *   <li>The heartbeat's loop does not change {@code stopped}. So the compiler reads it once, before
 *       the loop, which then never ends.
 * </ul>
 *
 * {@code java JobServer.java [REQUESTS]}: how many (200000). It prints what happened as one line of
 * JSON.
 */
final class JobServer {
  private static final int LOOKS = 20;
  private static final int LONGEST_PAUSE = 40;

  private int requests;
  private int answers;
  private boolean asleep;
  private boolean stopped;
  private long heartbeats;

  private void work() {
    while (!stopped) {
      for (int looks = 0; looks < LOOKS && answers == requests; looks++) {
        Thread.onSpinWait();
      }
      if (answers == requests) {
        asleep = true;
        if (answers == requests && !stopped) {
          LockSupport.park();
        }
        asleep = false;
      } else {
        answers++;
      }
    }
  }

  private void beat() {
    while (!stopped) {
      heartbeats++;
    }
  }

  /** Leaves a request, and waits for its answer: whether the worker slept over it. */
  private boolean request(Thread worker) {
    requests++;
    boolean woken = asleep;
    if (woken) {
      LockSupport.unpark(worker);
    }
    boolean sleptOver = false;
    for (int looks = 0; answers != requests; looks++) {
      if (looks < 1000) {
        Thread.onSpinWait();
        continue;
      }
      LockSupport.parkNanos(100_000);
      // However slow the machine is: a worker that was awake, and now waits to be woken, has not
      // seen the request.
      if (!woken
          && !sleptOver
          && worker.getState() == Thread.State.WAITING
          && answers != requests) {
        sleptOver = true;
        LockSupport.unpark(worker);
      }
    }
    return sleptOver;
  }

  public static void main(String[] arguments) throws InterruptedException {
    int count = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 200_000;
    JobServer server = new JobServer();
    Thread worker = new Thread(server::work, "worker");
    Thread heartbeat = new Thread(server::beat, "heartbeat");
    heartbeat.setDaemon(true);
    worker.start();
    heartbeat.start();
    int sleptOver = 0;
    for (int i = 0; i < count; i++) {
      for (int pause = i % LONGEST_PAUSE; pause > 0; pause--) {
        Thread.onSpinWait();
      }
      sleptOver += server.request(worker) ? 1 : 0;
    }
    server.stopped = true;
    LockSupport.unpark(worker);
    worker.join();
    System.out.printf(
        "{\"requests\": %d, \"slept_over\": %d, \"heartbeats\": 1, \"went_on\": %d}%n",
        count, sleptOver, goesOn(heartbeat) ? 1 : 0);
  }

  /** For a second of its own CPU time, so that a thread that only waits for a CPU is given time. */
  private static boolean goesOn(Thread thread) throws InterruptedException {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long end = threads.getThreadCpuTime(thread.getId()) + 1_000_000_000;
    while (thread.isAlive()) {
      if (threads.getThreadCpuTime(thread.getId()) > end) {
        return true;
      }
      Thread.sleep(10);
    }
    return false;
  }
}
