/** Stores, and loads the same again: what a compiler that may would answer without a load. */
final class StoreThenLoad {
  private int field;
  private static int shared;

  /** Three stores and six loads, by bytecode. */
  static int six(StoreThenLoad object, int[] elements, int value) {
    object.field = value;
    int sum = object.field + object.field;
    shared = value;
    sum += shared + shared;
    elements[0] = value;
    return sum + elements[0] + elements[0];
  }

  public static void main(String[] arguments) {
    System.out.println(six(new StoreThenLoad(), new int[1], 7));
  }
}
