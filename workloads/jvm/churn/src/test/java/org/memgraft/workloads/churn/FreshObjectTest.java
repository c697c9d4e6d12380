package org.memgraft.workloads.churn;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FreshObjectTest {
  private static final Map<Class<?>, Object> DIRT =
      Map.of(
          boolean.class,
          true,
          byte.class,
          (byte) 1,
          char.class,
          (char) 1,
          short.class,
          (short) 1,
          int.class,
          1,
          long.class,
          1L,
          float.class,
          -0.0f,
          double.class,
          -0.0,
          Object.class,
          "reference");

  static Stream<Supplier<FreshObject>> classes() {
    return Stream.of(FreshObject.Tiny::new, FreshObject.Mixed::new, FreshObject.Wide::new);
  }

  @ParameterizedTest
  @MethodSource("classes")
  void passesZeroes(Supplier<FreshObject> make) {
    assertDoesNotThrow(() -> make.get().check());
  }

  @ParameterizedTest
  @MethodSource("classes")
  void findsAnyOneDirtyField(Supplier<FreshObject> make) throws IllegalAccessException {
    for (Field field : make.get().getClass().getDeclaredFields()) {
      FreshObject object = make.get();
      field.setAccessible(true);
      field.set(object, DIRT.get(field.getType()));
      assertThrows(DirtyMemory.class, object::check, field::toString);
    }
  }

  @ParameterizedTest
  @MethodSource("classes")
  void scribblingLeavesNoZero(Supplier<FreshObject> make) throws IllegalAccessException {
    FreshObject object = make.get();
    object.scribble("reference");
    for (Field field : object.getClass().getDeclaredFields()) {
      field.setAccessible(true);
      Object zero = field.get(make.get());
      assertTrue(!field.get(object).equals(zero), field::toString);
    }
  }
}
