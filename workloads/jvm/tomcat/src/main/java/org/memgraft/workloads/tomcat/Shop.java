package org.memgraft.workloads.tomcat;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** What there is to buy; never changes. */
final class Shop {
  static final int PRODUCTS = 1_000;
  static final int DEPARTMENTS = 20;
  private static final int MOST_CENTS = 100_000;
  private static final String[] ADJECTIVES = {"blue", "light", "old", "quiet", "small", "warm"};
  private static final String[] NOUNS = {"chair", "clock", "kettle", "lamp", "mirror", "table"};

  record Product(int number, int department, String name, int cents) {}

  private final List<Product> products;

  Shop() {
    // Its numbers are specified: the same on every JVM.
    Random random = new Random(1);
    products = IntStream.range(0, PRODUCTS).mapToObj(number -> product(number, random)).toList();
  }

  private static Product product(int number, Random random) {
    String name =
        "%s %s %d"
            .formatted(
                ADJECTIVES[random.nextInt(ADJECTIVES.length)],
                NOUNS[random.nextInt(NOUNS.length)],
                number);
    return new Product(number, random.nextInt(DEPARTMENTS), name, random.nextInt(MOST_CENTS));
  }

  Product product(int number) {
    return products.get(number);
  }

  List<Product> of(int department) {
    return products.stream().filter(product -> product.department() == department).toList();
  }
}
