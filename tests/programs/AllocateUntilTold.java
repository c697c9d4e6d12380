import java.util.ArrayList;
import java.util.List;

/**
 * Allocates on two threads until a line arrives on standard input, keeping some of it and checking
 * what it kept. A line that begins with a c has it crash.
 */
final class AllocateUntilTold {
  private static volatile boolean stop;
  private static volatile Object sink;

  private AllocateUntilTold() {}

  private static final class Node {
    final Node next;
    final int[] values;

    Node(Node next, int length) {
      this.next = next;
      this.values = new int[length];
      for (int value : values) {
        if (value != 0) {
          throw new AssertionError("a fresh array holds " + value);
        }
      }
      java.util.Arrays.fill(values, length);
    }
  }

  private static void allocate() {
    Node kept = null;
    for (int round = 0; !stop; round++) {
      Node chain = null;
      for (int i = 0; i < 200; i++) {
        chain = new Node(chain, (round + i) % 500);
      }
      sink = chain;
      if (round % 50 == 0) {
        kept = round % 5000 == 0 ? null : new Node(kept, 100);
        for (Node node = kept; node != null; node = node.next) {
          for (int value : node.values) {
            if (value != 100) {
              throw new AssertionError("a kept array holds " + value);
            }
          }
        }
      }
    }
  }

  /** Writes where no memory is. By reflection, because compilers warn of that class. */
  private static void crash() throws Exception {
    Class<?> type = Class.forName("sun.misc.Unsafe");
    java.lang.reflect.Field instance = type.getDeclaredField("theUnsafe");
    instance.setAccessible(true);
    type.getMethod("putByte", long.class, byte.class).invoke(instance.get(null), 1L, (byte) 1);
  }

  public static void main(String[] arguments) throws Exception {
    List<Throwable> failures = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Thread thread = new Thread(AllocateUntilTold::allocate);
      thread.setUncaughtExceptionHandler(
          (failed, failure) -> {
            synchronized (failures) {
              failures.add(failure);
            }
          });
      threads.add(thread);
      thread.start();
    }
    System.out.println("allocating");
    if (System.in.read() == 'c') {
      crash();
    }
    stop = true;
    for (Thread thread : threads) {
      thread.join();
    }
    System.out.println(failures.isEmpty() ? "every node intact" : failures.toString());
    System.exit(failures.isEmpty() ? 0 : 1);
  }
}
