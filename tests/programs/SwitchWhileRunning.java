import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

/**
 * Store buffering, with a thread that runs compiled code on an object of its own when another
 * thread accesses that object for the first time. Each round has a class of its own.
 *
 * <p>The owner stores 1, 2, ... into the object and loads the other's counter after each; the other
 * thread stores 1, 2, ... into its counter and loads the object's after each. If the owner's load
 * behind its store of i gave less than j, that store came before the other's of j; so the other's
 * load behind it must give at least i.
 */
public class SwitchWhileRunning {
  private static final int TIMES = 400_000;
  private static final String NAME = "SwitchWhileRunning$Fresh000000";

  /** Renamed for each round. */
  public static class Fresh000000 {
    static Fresh000000 published;
    static int counter;

    int number;

    /** What the other thread's counter was, after each store. */
    public static void own(int[] seen) {
      Fresh000000 mine = new Fresh000000();
      published = mine;
      for (int i = 1; i < seen.length; i++) {
        mine.number = i;
        seen[i] = counter;
      }
    }

    public static void access(int[] seen, int after) {
      while (published == null) {
        Thread.onSpinWait();
      }
      long end = System.nanoTime() + after;
      while (System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      Fresh000000 others = published;
      for (int j = 1; j < seen.length; j++) {
        counter = j;
        seen[j] = others.number;
      }
    }
  }

  /** Has one class, whose name is as long as the template's. */
  private static final class Once extends ClassLoader {
    Class<?> define(byte[] bytes) {
      return defineClass(null, bytes, 0, bytes.length);
    }
  }

  private static byte[] template() throws IOException {
    try (InputStream file = SwitchWhileRunning.class.getResourceAsStream(NAME + ".class")) {
      return file.readAllBytes();
    }
  }

  /** The class file with another name of the same length in each place. */
  private static byte[] renamed(byte[] template, int round) {
    String text = new String(template, StandardCharsets.ISO_8859_1);
    String name = NAME.substring(0, NAME.length() - 6) + String.format("%06d", round);
    return text.replace(NAME, name).getBytes(StandardCharsets.ISO_8859_1);
  }

  private static int violations(int[] owners, int[] others) {
    int found = 0;
    for (int i = 1; i < owners.length; i++) {
      int next = owners[i] + 1;
      if (next < others.length && others[next] < i) {
        found++;
      }
    }
    return found;
  }

  /** Words: how many rounds. */
  public static void main(String[] words) throws Exception {
    byte[] template = template();
    int rounds = Integer.parseInt(words[0]);
    int broken = 0;
    for (int round = 1; round <= rounds; round++) {
      Class<?> made = new Once().define(renamed(template, round));
      Method own = made.getMethod("own", int[].class);
      Method access = made.getMethod("access", int[].class, int.class);
      int[] owners = new int[TIMES];
      int[] others = new int[TIMES];
      int after = round % 10 * 1_000_000;
      Thread owner = new Thread(() -> call(own, owners));
      Thread other = new Thread(() -> call(access, others, after));
      owner.start();
      other.start();
      owner.join();
      other.join();
      broken += violations(owners, others) > 0 ? 1 : 0;
    }
    System.out.println(broken + " of " + rounds + " rounds were not sequentially consistent");
    System.exit(broken > 0 ? 1 : 0);
  }

  private static void call(Method method, Object... words) {
    try {
      method.invoke(null, words);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
