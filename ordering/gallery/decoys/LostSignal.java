package decoys;

/** A thread waits for a signal without looking whether it was given before. */
final class LostSignal {
  private final Object signal = new Object();

  public static void main(String[] arguments) throws InterruptedException {
    LostSignal lost = new LostSignal();
    Thread waiting =
        new Thread(
            () -> {
              synchronized (lost.signal) {
                try {
                  lost.signal.wait();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              }
            },
            "waiting");
    waiting.setDaemon(true);
    synchronized (lost.signal) {
      waiting.start();
      lost.signal.notifyAll();
    }
    waiting.join(500);
    if (waiting.isAlive()) {
      System.out.println("the signal was lost");
      System.exit(1);
    }
  }
}
