package gallery;

import com.vmlens.api.AllInterleavings;
import java.util.function.Supplier;

/** Runs two threads on a fresh object in each interleaving that VMLens makes. */
final class Both {
  private Both() {}

  /** One of the two, which may be interrupted. */
  interface Work<T> {
    void on(T object) throws InterruptedException;
  }

  static <T> void run(
      String name, Supplier<T> fresh, Work<T> first, Work<T> second, Work<T> afterwards)
      throws InterruptedException {
    try (AllInterleavings all = new AllInterleavings(name)) {
      while (all.hasNext()) {
        T object = fresh.get();
        Thread one = thread(object, first);
        Thread other = thread(object, second);
        one.start();
        other.start();
        one.join();
        other.join();
        afterwards.on(object);
      }
    }
  }

  private static <T> Thread thread(T object, Work<T> work) {
    return new Thread(
        () -> {
          try {
            work.on(object);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
  }
}
