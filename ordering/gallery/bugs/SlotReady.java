package bugs;

/**
 * A producer marks the slots of a ring as full; the consumer waits for the next one. The ring
 * itself is volatile, but its elements are not.
 *
 * <p>Lacks: bugs.SlotReady$Ring.take[]
 */
final class SlotReady {
  private static final class Ring {
    private final boolean[] full = new boolean[8];

    void take(int slot) {
      while (!full[slot]) {}
    }

    void put(int slot) {
      full[slot] = true;
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    Ring ring = new Ring();
    Thread consumer = new Thread(() -> ring.take(3), "consumer");
    consumer.setDaemon(true);
    consumer.start();
    Thread.sleep(300);
    ring.put(3);
    consumer.join(1000);
    if (consumer.isAlive()) {
      System.out.println("the consumer waits for a slot that is full");
      System.exit(1);
    }
  }
}
