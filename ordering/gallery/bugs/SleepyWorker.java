package bugs;

import java.util.concurrent.locks.LockSupport;

/**
 * A worker says that it sleeps, then looks for requests once more. A client leaves a request, then
 * looks whether the worker sleeps. Each CPU may look before the other sees what it has said, and
 * the worker sleeps over the request.
 *
 * <p>Lacks: bugs.SleepyWorker.asleep and bugs.SleepyWorker.requests
 */
final class SleepyWorker {
  private static final int REQUESTS = 200_000;

  private int requests;
  private volatile int answers;
  private boolean asleep;

  private void work() {
    while (answers < REQUESTS) {
      if (answers == requests) {
        asleep = true;
        if (answers == requests) {
          LockSupport.park();
        }
        asleep = false;
      } else {
        answers = answers + 1;
      }
    }
  }

  /** Whether the worker slept over the request. */
  private boolean request(Thread worker) {
    requests++;
    boolean woken = asleep;
    if (woken) {
      LockSupport.unpark(worker);
    }
    int request = requests;
    for (int looks = 0; answers != request; looks++) {
      Thread.onSpinWait();
      boolean waits = looks > 1000 && worker.getState() == Thread.State.WAITING;
      if (waits && !woken && answers != request) {
        LockSupport.unpark(worker);
        return true;
      }
    }
    return false;
  }

  public static void main(String[] arguments) throws InterruptedException {
    SleepyWorker server = new SleepyWorker();
    Thread worker = new Thread(server::work, "worker");
    worker.setDaemon(true);
    worker.start();
    for (int i = 0; i < REQUESTS; i++) {
      for (int pause = i % 40; pause > 0; pause--) {
        Thread.onSpinWait();
      }
      if (server.request(worker)) {
        System.out.println("the worker slept over request " + i);
        System.exit(1);
      }
    }
  }
}
