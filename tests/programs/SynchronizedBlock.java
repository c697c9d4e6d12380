/** Calls a method with a synchronized block until C2 compiles it. */
public final class SynchronizedBlock {
  private final Object lock = new Object();
  private int last;
  private int sum;

  private int add(int value) {
    synchronized (lock) {
      last = value;
      sum += last;
      return sum;
    }
  }

  public static void main(String[] arguments) {
    SynchronizedBlock block = new SynchronizedBlock();
    int sum = 0;
    for (int i = 0; i < 100_000; i++) {
      sum = block.add(i & 1);
    }
    System.out.println(sum);
  }
}
