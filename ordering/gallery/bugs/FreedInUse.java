package bugs;

/**
 * A reader announces which version of a table it is going to use, and looks whether that is still
 * the current one. A writer makes another version current, and frees the old one unless somebody
 * has announced it (M. M. Michael, Hazard Pointers, IEEE TPDS 15, 2004). Each CPU may look before
 * the other sees what it has said, and a version is freed while it is in use.
 *
 * <p>Lacks: bugs.FreedInUse.announced and bugs.FreedInUse.current
 */
final class FreedInUse {
  private static final int VERSIONS = 20_000_000;
  private static final int NONE = -1;

  private int current;
  private int announced = NONE;
  private volatile int freed = NONE;
  private volatile boolean done;

  private void write() {
    for (int version = 1; version < VERSIONS; version++) {
      current = version;
      if (announced != version - 1) {
        freed = version - 1;
      }
    }
    done = true;
  }

  /** Whether a version was freed while this thread used it. */
  private boolean use() {
    int version = current;
    if (freed == version) {
      return false;
    }
    announced = version;
    boolean mine = current == version;
    boolean lost = mine && freed == version;
    announced = NONE;
    return lost;
  }

  public static void main(String[] arguments) throws InterruptedException {
    FreedInUse table = new FreedInUse();
    Thread writer = new Thread(table::write, "writer");
    writer.start();
    int lost = 0;
    while (!table.done) {
      lost += table.use() ? 1 : 0;
    }
    writer.join();
    if (lost > 0) {
      System.out.println("a version was freed in use " + lost + " times");
      System.exit(1);
    }
  }
}
