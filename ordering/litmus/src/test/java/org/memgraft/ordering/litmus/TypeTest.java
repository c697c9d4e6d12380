package org.memgraft.ordering.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TypeTest {
  /** Both halves of every value differ from those of every other, so that a torn one is strange. */
  @Test
  void tornValuesAreNone() {
    assertEquals(2, Type.LONG.value(0x0000_0002_0000_0002L));
    assertEquals(Type.NONE, Type.LONG.value(0x0000_0002_0000_0001L));
    assertEquals(Type.NONE, Type.LONG.value(0x0000_0000_0000_0001L));
    long one = 0x0010_0001_0010_0001L;
    assertEquals(1, Type.DOUBLE.value(one));
    assertEquals(Type.NONE, Type.DOUBLE.value(one & 0xffff_ffffL));
    assertEquals(Type.NONE, Type.INT.value(-1));
  }

  @Test
  void noDoubleIsANumberThatChangesWhenItIsCopied() {
    for (int value = 1; value < 8; value++) {
      double number = Double.longBitsToDouble(value * 0x0010_0001_0010_0001L);
      assertEquals(value, Type.DOUBLE.value(Double.doubleToRawLongBits(number)));
      assertEquals(number, number);
    }
  }
}
