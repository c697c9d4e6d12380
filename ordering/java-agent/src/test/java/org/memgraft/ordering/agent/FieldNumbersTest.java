package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FieldNumbersTest {
  private final List<Integer> shared = new ArrayList<>();
  private final FieldNumbers numbers = new FieldNumbers(shared::add);
  private final ClassLoader one = new ClassLoader(null) {};
  private final ClassLoader another = new ClassLoader(null) {};

  @Test
  void aFieldHasOneNumber() {
    int x = numbers.of("A", "x", "I");
    assertEquals(x, numbers.of("A", "x", "I"));
    for (int other :
        List.of(numbers.of("A", "x", "J"), numbers.of("A", "y", "I"), numbers.of("B", "x", "I"))) {
      assertNotEquals(x, other);
    }
  }

  @Test
  void fieldsOfClassesOfOneNameShareTheirs() {
    numbers.has(one, "A");
    numbers.has(one, "B");
    int before = numbers.of("A", "x", "I");
    numbers.of("B", "x", "I");
    // As when a class is retransformed.
    numbers.has(one, "A");
    assertEquals(List.of(), shared);
    numbers.has(another, "A");
    numbers.has(one, "A");
    assertEquals(List.of(before), shared);
    int after = numbers.of("A", "y", "I");
    numbers.of("B", "y", "I");
    assertEquals(List.of(before, after), shared);
  }

  /** The JVM's own loader is null. */
  @Test
  void soTheyDoWithAClassOfTheJvmsOwnLoader() {
    numbers.has(null, "A");
    int x = numbers.of("A", "x", "I");
    numbers.has(null, "A");
    assertEquals(List.of(), shared);
    numbers.has(one, "A");
    assertEquals(List.of(x), shared);
  }
}
