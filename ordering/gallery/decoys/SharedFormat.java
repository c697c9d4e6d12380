package decoys;

import java.text.SimpleDateFormat;
import java.util.Date;

/** Two threads format dates with one object, which keeps its work in its fields. */
final class SharedFormat {
  public static void main(String[] arguments) throws InterruptedException {
    SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd");
    String expected = format.format(new Date(0));
    boolean[] wrong = new boolean[2];
    Thread[] threads = new Thread[2];
    for (int i = 0; i < 2; i++) {
      int number = i;
      threads[i] =
          new Thread(
              () -> {
                for (int turn = 0; turn < 20_000; turn++) {
                  long day = number * 86_400_000L * 400;
                  boolean first = format.format(new Date(day)).equals(expected);
                  wrong[number] |= first != (number == 0);
                }
              });
      threads[i].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (wrong[0] || wrong[1]) {
      System.out.println("a date was formatted as another one");
      System.exit(1);
    }
  }
}
