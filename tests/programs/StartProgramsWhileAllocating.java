import java.util.ArrayList;
import java.util.List;

/** Starts a number of programs, one after the other, while two threads allocate. */
final class StartProgramsWhileAllocating {
  private static volatile boolean stop;
  private static volatile Object sink;

  private StartProgramsWhileAllocating() {}

  private static void allocate() {
    while (!stop) {
      int[] fresh = new int[1000];
      for (int value : fresh) {
        if (value != 0) {
          throw new AssertionError("a fresh array holds " + value);
        }
      }
      java.util.Arrays.fill(fresh, 1);
      sink = fresh;
    }
  }

  public static void main(String[] arguments) throws Exception {
    int count = Integer.parseInt(arguments[0]);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Thread thread = new Thread(StartProgramsWhileAllocating::allocate);
      thread.setUncaughtExceptionHandler(
          (failed, failure) -> {
            System.out.println(failure);
            Runtime.getRuntime().halt(1);
          });
      threads.add(thread);
      thread.start();
    }
    for (int i = 0; i < count; i++) {
      int code = new ProcessBuilder("true").start().waitFor();
      if (code != 0) {
        throw new AssertionError("program " + i + " ended with " + code);
      }
    }
    stop = true;
    for (Thread thread : threads) {
      thread.join();
    }
    System.out.println(count + " programs ended with 0");
  }
}
