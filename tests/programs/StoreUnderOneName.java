import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;

/**
 * Two loaders have a class of one name. A thread stores a static field of the one again and again;
 * the other's is never stored. How often a load of the other got another value than it has is
 * printed: never.
 */
final class StoreUnderOneName {
  private static final int STRETCH_MS = 300;
  private static final String HELD = "StoreUnderOneName$Held";

  private StoreUnderOneName() {}

  /** What each of the loaders has. */
  static final class Held {
    private static int value;

    private Held() {}

    static void store() {
      long end = System.nanoTime() + STRETCH_MS * 1_000_000L;
      int next = 1;
      while (System.nanoTime() < end) {
        value = next++;
      }
    }

    static int others() {
      long end = System.nanoTime() + STRETCH_MS * 1_000_000L;
      int others = 0;
      while (System.nanoTime() < end) {
        others += value == 0 ? 0 : 1;
      }
      return others;
    }
  }

  public static void main(String[] arguments) throws Exception {
    URL here = StoreUnderOneName.class.getProtectionDomain().getCodeSource().getLocation();
    ClassLoader platform = ClassLoader.getPlatformClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {here}, platform)) {
      Method others = loader.loadClass(HELD).getDeclaredMethod("others");
      others.setAccessible(true);
      Thread storing = new Thread(Held::store);
      storing.start();
      System.out.println(others.invoke(null));
      storing.join();
    }
  }
}
