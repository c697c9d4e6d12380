package org.memgraft.workloads.churn;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class BlindSpotTest {
  /** Well beyond what HotSpot needs to compile a loop with C2. */
  private static final int COMPILED_AFTER = 300_000;

  @Test
  void returnsWhatWasPassed() {
    BlindSpot blindSpot = new BlindSpot();
    for (int i = 0; i < 100; i++) {
      Object fresh = new Object();
      assertSame(fresh, blindSpot.pass(fresh));
    }
  }

  /**
   * Had the compiler taken the array that comes out for the one that went in, compiled code would
   * go on finding zeroes in the older, scribbled array that the detour leads to.
   */
  @Test
  void compiledCheckReadsTheArrayThatComesOut() throws DirtyMemory {
    BlindSpot blindSpot = new BlindSpot();
    for (int i = 0; i < COMPILED_AFTER; i++) {
      checkAndScribbleArray(blindSpot);
    }
    blindSpot.detour = 1;
    assertThrows(DirtyMemory.class, () -> checkAndScribbleArray(blindSpot));
  }

  @Test
  void compiledCheckReadsTheObjectThatComesOut() throws DirtyMemory {
    BlindSpot blindSpot = new BlindSpot();
    for (int i = 0; i < COMPILED_AFTER; i++) {
      checkAndScribbleObject(blindSpot);
    }
    blindSpot.detour = 1;
    assertThrows(DirtyMemory.class, () -> checkAndScribbleObject(blindSpot));
  }

  private static void checkAndScribbleArray(BlindSpot blindSpot) throws DirtyMemory {
    Object array = blindSpot.pass(new long[6]);
    FreshArray.check(array, 0);
    FreshArray.scribble(array, blindSpot);
  }

  private static void checkAndScribbleObject(BlindSpot blindSpot) throws DirtyMemory {
    FreshObject object = (FreshObject) blindSpot.pass(new FreshObject.Mixed());
    object.check();
    object.scribble(blindSpot);
  }
}
