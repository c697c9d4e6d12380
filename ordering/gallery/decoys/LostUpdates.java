package decoys;

/** Two threads add to one counter. The update is not atomic: the fields' order does not matter. */
final class LostUpdates {
  private int count;

  private void add() {
    for (int i = 0; i < 1_000_000; i++) {
      count++;
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    LostUpdates counter = new LostUpdates();
    Thread first = new Thread(counter::add, "first");
    Thread second = new Thread(counter::add, "second");
    first.start();
    second.start();
    first.join();
    second.join();
    if (counter.count != 2_000_000) {
      System.out.println("lost " + (2_000_000 - counter.count) + " updates");
      System.exit(1);
    }
  }
}
