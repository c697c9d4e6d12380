import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Virtual threads (Java 21 and later) give way again and again, so that they continue on other
 * carriers, and look each time which thread they are. Fails if one was another. Arguments: how many
 * threads, how often each gives way.
 */
public class ChangeCarriers {
  private static final AtomicInteger mistaken = new AtomicInteger();

  public static void main(String[] arguments) throws Exception {
    int threads = Integer.parseInt(arguments[0]);
    int times = Integer.parseInt(arguments[1]);
    // By reflection: this is compiled for Java 17.
    Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
    Method start = Class.forName("java.lang.Thread$Builder").getMethod("start", Runnable.class);
    List<Thread> started = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      started.add((Thread) start.invoke(builder, (Runnable) () -> changeCarriers(times)));
    }
    for (Thread thread : started) {
      thread.join();
    }
    if (mistaken.get() > 0) {
      System.err.println("Thread.currentThread() was another thread " + mistaken + " times");
      System.exit(1);
    }
  }

  private static void changeCarriers(int times) {
    Thread me = Thread.currentThread();
    for (int i = 0; i < times; i++) {
      if (giveWay() != me) {
        mistaken.incrementAndGet();
      }
    }
  }

  /** Asks before and after: a compiler may take the first answer for both. */
  private static Thread giveWay() {
    if (Thread.currentThread().isInterrupted()) {
      return null;
    }
    Thread.yield();
    return Thread.currentThread();
  }
}
