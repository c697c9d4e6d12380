package bugs;

/**
 * A writer counts before and after it changes two fields; a reader reads them again where the count
 * was odd, or has changed. The compiler reads the count once for both looks, and of two changes
 * that follow each other counts the end of the first and the beginning of the second at once. With
 * a volatile count it is still free to read the fields after the second look.
 *
 * <p>Lacks: bugs.TornPair.version and bugs.TornPair.right, or bugs.TornPair.version and
 * bugs.TornPair.left and bugs.TornPair.right
 */
final class TornPair {
  private int version;
  private int left;
  private int right;
  private volatile boolean done;

  private void grow(int value) {
    version++;
    left = value;
    right = value;
    version++;
  }

  private void shrink(int value) {
    version++;
    right = value;
    left = value;
    version++;
  }

  private void write() {
    for (int i = 1; i < 5_000_000; i++) {
      grow(i);
      shrink(-i);
    }
    done = true;
  }

  /** The difference of two values that belong together; 0 where the writer is always in between. */
  private int read() {
    for (int tries = 0; tries < 1_000; tries++) {
      int before = version;
      int a = left;
      int b = right;
      if (before == version && (before & 1) == 0) {
        return a - b;
      }
    }
    return 0;
  }

  public static void main(String[] arguments) throws InterruptedException {
    TornPair pair = new TornPair();
    Thread writer = new Thread(pair::write, "writer");
    writer.start();
    int torn = 0;
    while (!pair.done) {
      torn += pair.read() == 0 ? 0 : 1;
    }
    writer.join();
    if (torn > 0) {
      System.out.println(
          "the reader saw two values that do not belong together " + torn + " times");
      System.exit(1);
    }
  }
}
