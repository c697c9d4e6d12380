import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Fills maps as they are seldom filled: with many keys of one hash, and by several threads at the
 * same time. Two classes of its own are loaded where that begins and ends, so that the JVM's log of
 * classes says what is loaded meanwhile.
 */
public class FillMaps {
  private static final int LETTERS = 7;
  private static final int MORE = 100_000;
  private static final int THREADS = 4;

  /** Loaded first. */
  private static final class Begin {}

  /** Loaded last. */
  private static final class End {}

  private static final class Filling extends Thread {
    private final Map<Object, Object> map;
    private final int first;

    Filling(Map<Object, Object> map, int first) {
      this.map = map;
      this.first = first;
    }

    @Override
    public void run() {
      for (int i = first; i < first + MORE; i++) {
        map.put(i, this);
      }
    }
  }

  /** "Aa" has the hash of "BB". */
  private static String ofOneHash(int number) {
    StringBuilder key = new StringBuilder();
    for (int i = 0; i < LETTERS; i++) {
      key.append((number >> i & 1) == 0 ? "Aa" : "BB");
    }
    return key.toString();
  }

  public static void main(String[] arguments) throws InterruptedException {
    Map<Object, Object> alone = new HashMap<>();
    Map<Object, Object> shared = new ConcurrentHashMap<>();
    Thread[] threads = new Thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
      threads[i] = new Filling(shared, i * MORE);
    }
    new Begin();
    for (int number = 0; number < 1 << LETTERS; number++) {
      String key = ofOneHash(number);
      alone.put(key, key);
      shared.put(key, key);
    }
    for (Thread thread : threads) {
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    new End();
  }
}
