package decoys;

import java.util.ArrayList;
import java.util.List;

/** Two threads add to a list that is made for one. */
final class SharedList {
  public static void main(String[] arguments) throws InterruptedException {
    List<Integer> list = new ArrayList<>();
    Runnable adding =
        () -> {
          for (int i = 0; i < 200_000; i++) {
            list.add(i);
          }
        };
    Thread first = new Thread(adding, "first");
    Thread second = new Thread(adding, "second");
    first.start();
    second.start();
    first.join();
    second.join();
    if (list.size() != 400_000) {
      System.out.println("the list has " + list.size() + " elements");
      System.exit(1);
    }
  }
}
