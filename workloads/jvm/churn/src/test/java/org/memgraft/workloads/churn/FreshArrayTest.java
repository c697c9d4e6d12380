package org.memgraft.workloads.churn;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Array;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class FreshArrayTest {
  private static final int LENGTH = 2 * FreshArray.PIECE + 5;

  /** The first and the last element, and those on both sides of where two pieces meet. */
  private static final List<Integer> INDEXES =
      List.of(0, 1, FreshArray.PIECE - 1, FreshArray.PIECE, LENGTH - 1);

  /** An array of each type, and the smallest value of its type that is not zero. */
  static Stream<Arguments> arraysAndDirt() {
    return Stream.of(
        Arguments.of(new boolean[LENGTH], true),
        Arguments.of(new byte[LENGTH], (byte) 1),
        Arguments.of(new char[LENGTH], (char) 1),
        Arguments.of(new short[LENGTH], (short) 1),
        Arguments.of(new int[LENGTH], 1),
        Arguments.of(new long[LENGTH], 1L),
        Arguments.of(new float[LENGTH], Float.MIN_VALUE),
        Arguments.of(new double[LENGTH], Double.MIN_VALUE),
        Arguments.of(new Object[LENGTH], "reference"));
  }

  @ParameterizedTest
  @MethodSource("arraysAndDirt")
  void passesZeroes(Object array, Object dirt) {
    assertDoesNotThrow(() -> FreshArray.check(array, 0));
  }

  @ParameterizedTest
  @MethodSource("arraysAndDirt")
  void findsOneDirtyElement(Object array, Object dirt) {
    Object zero = Array.get(array, 0);
    for (int index : INDEXES) {
      Array.set(array, index, dirt);
      DirtyMemory found = assertThrows(DirtyMemory.class, () -> FreshArray.check(array, 0));
      assertTrue(found.getMessage().contains(" at index " + index + ","), found.getMessage());
      Array.set(array, index, zero);
    }
  }

  @ParameterizedTest
  @MethodSource("arraysAndDirt")
  void scribblingLeavesNoZero(Object array, Object dirt) {
    FreshArray.scribble(array, "reference");
    for (int from = 0; from < LENGTH; from++) {
      int index = from;
      DirtyMemory found = assertThrows(DirtyMemory.class, () -> FreshArray.check(array, index));
      assertTrue(found.getMessage().contains(" at index " + index + ","), found.getMessage());
    }
  }

  @Test
  void tellsNegativeZeroFromZero() {
    assertThrows(DirtyMemory.class, () -> FreshArray.check(new float[] {-0.0f}, 0));
    assertThrows(DirtyMemory.class, () -> FreshArray.check(new double[] {-0.0}, 0));
  }

  @Test
  void saysTypeLengthIndexAndValue() {
    DirtyMemory found =
        assertThrows(DirtyMemory.class, () -> FreshArray.check(new int[] {0, 0, 7}, 0));
    assertEquals(
        "a fresh int[] of length 3 holds 7 at index 2, expected zero: its memory was not cleared",
        found.getMessage());
  }
}
