import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads (Java 21 and later) wait in several ways, each of which ends by itself. Some of
 * the JDK's classes are loaded only when such a thread waits for the first time.
 */
public class WaitInVirtualThreads {
  private static final int TIMES = 20;
  private static final Object monitor = new Object();
  private static final ReentrantLock lock = new ReentrantLock();

  public static void main(String[] arguments) throws Exception {
    // By reflection: this is compiled for Java 17.
    Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
    Method start = Class.forName("java.lang.Thread$Builder").getMethod("start", Runnable.class);
    List<Thread> started = new ArrayList<>();
    for (Callable<?> way : ways()) {
      started.add((Thread) start.invoke(builder, (Runnable) () -> go(way)));
    }
    for (Thread thread : started) {
      thread.join(1);
      thread.join();
    }
  }

  private static List<Callable<?>> ways() {
    return List.of(
        () -> {
          Thread.sleep(1);
          return null;
        },
        () -> {
          LockSupport.parkNanos(1_000_000);
          return null;
        },
        () -> {
          synchronized (monitor) {
            Thread.sleep(1);
            monitor.wait(1);
          }
          return null;
        },
        () -> {
          lock.lock();
          try {
            Thread.sleep(1);
          } finally {
            lock.unlock();
          }
          return null;
        },
        () -> {
          Thread.currentThread().interrupt();
          Thread.sleep(1);
          return null;
        },
        () -> new SynchronousQueue<Integer>().poll(1, TimeUnit.MILLISECONDS),
        () -> new CompletableFuture<Integer>().get(1, TimeUnit.MILLISECONDS));
  }

  private static void go(Callable<?> way) {
    for (int i = 0; i < TIMES; i++) {
      try {
        way.call();
      } catch (InterruptedException | TimeoutException e) {
        // As it is meant.
        continue;
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
