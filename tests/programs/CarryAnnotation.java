/**
 * A class with an annotation whose values are of every primitive type that the JDK boxes by a
 * cache.
 */
final class CarryAnnotation {
  private CarryAnnotation() {}

  @interface Values {
    byte small();

    short larger();

    char letter();

    int number();

    long large();
  }

  @Values(small = 5, larger = 4, letter = 'c', number = 2, large = 1)
  static final class Carrier {
    int field;
  }

  public static void main(String[] arguments) {
    new Carrier().field = 1;
  }
}
