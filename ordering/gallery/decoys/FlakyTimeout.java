package decoys;

import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** An answer takes some time, and whoever waits for it does not wait long enough. */
final class FlakyTimeout {
  public static void main(String[] arguments) throws Exception {
    CompletableFuture<String> answer =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                Thread.sleep(new Random().nextInt(200));
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              return "an answer";
            });
    try {
      System.out.println(answer.get(100, TimeUnit.MILLISECONDS));
    } catch (TimeoutException e) {
      System.out.println("no answer in time");
      System.exit(1);
    }
  }
}
