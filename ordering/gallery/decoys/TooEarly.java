package decoys;

/** A thread is expected to have done its work after a while, and nobody waits for it. */
final class TooEarly {
  private static volatile int done;

  public static void main(String[] arguments) throws InterruptedException {
    Thread worker =
        new Thread(
            () -> {
              long sum = System.nanoTime();
              for (int i = 0; i < 3_000_000; i++) {
                sum = sum * 31 + i;
              }
              done = sum == 0 ? 2 : 1;
            },
            "worker");
    worker.setDaemon(true);
    worker.start();
    Thread.sleep(1);
    if (done == 0) {
      System.out.println("the worker is not done yet");
      System.exit(1);
    }
  }
}
