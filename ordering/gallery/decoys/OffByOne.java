package decoys;

import java.util.Random;

/** An ordinary mistake that shows with some inputs only. */
final class OffByOne {
  private static int sum(int[] values) {
    int sum = 0;
    for (int i = 1; i < values.length; i++) {
      sum += values[i];
    }
    return sum;
  }

  public static void main(String[] arguments) {
    int[] values = new Random().ints(8, 0, 2).toArray();
    int expected = 0;
    for (int value : values) {
      expected += value;
    }
    if (sum(values) != expected) {
      System.out.println("the sum is " + sum(values) + ", expected " + expected);
      System.exit(1);
    }
  }
}
