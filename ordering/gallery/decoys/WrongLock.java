package decoys;

/** Each thread holds a lock while it changes the total, and each one its own. */
final class WrongLock implements Runnable {
  private static long total;

  private final Object lock = new Object();

  @Override
  public void run() {
    for (int i = 0; i < 1_000_000; i++) {
      synchronized (lock) {
        total++;
      }
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    Thread first = new Thread(new WrongLock(), "first");
    Thread second = new Thread(new WrongLock(), "second");
    first.start();
    second.start();
    first.join();
    second.join();
    if (total != 2_000_000) {
      System.out.println("the total is " + total);
      System.exit(1);
    }
  }
}
