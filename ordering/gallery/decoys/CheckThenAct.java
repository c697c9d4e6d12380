package decoys;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;

/** Two threads look whether a connection is there, and both open it. The map itself is in order. */
final class CheckThenAct {
  private final ConcurrentHashMap<Integer, String> connections = new ConcurrentHashMap<>();
  private final AtomicInteger opened = new AtomicInteger();

  private String connection(int number) {
    if (!connections.containsKey(number)) {
      connections.put(number, "connection " + opened.incrementAndGet());
    }
    return connections.get(number);
  }

  public static void main(String[] arguments) throws Exception {
    CheckThenAct pool = new CheckThenAct();
    CyclicBarrier together = new CyclicBarrier(2);
    int numbers = 5_000;
    Thread other =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < numbers; i++) {
                  together.await();
                  pool.connection(i);
                }
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            },
            "other");
    other.start();
    for (int i = 0; i < numbers; i++) {
      together.await();
      pool.connection(i);
    }
    other.join();
    if (pool.opened.get() != numbers) {
      System.out.println((pool.opened.get() - numbers) + " connections were opened twice");
      System.exit(1);
    }
  }
}
