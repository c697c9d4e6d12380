package org.memgraft.ordering.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ExecutorTest {
  private static final String NAME = ExecutorTest.class.getPackageName();

  static class Base {}

  static final class Inheriting extends Base {}

  private static final String LIST =
      """
      1 3 0 java.lang.Object.<init>()V [0x0001, 0x0002 - 0x0003]
      2 4 0 %1$s.ExecutorTest$Base.whole()V [0x0001, 0x0002 - 0x0003]
      3 4 1 %1$s.ExecutorTest$Base.left()V [0x0001, 0x0002 - 0x0003]
      4 1 0 %1$s.ExecutorTest$Base.quick()V [0x0001, 0x0002 - 0x0003]
      5 1 0 %1$s.ExecutorTest$Inheriting.quick()V [0x0001, 0x0002 - 0x0003]
      """
          .formatted(NAME);

  private static String has(Executor executor) {
    StringBuilder had = new StringBuilder();
    for (String method : new String[] {"whole", "left", "quick", "qui", "none"}) {
      had.append(executor.has(LIST, Base.class, method) ? method + " " : "");
    }
    return had.toString();
  }

  @Test
  void methodsInUseAreTheirCompilers() {
    assertEquals("whole ", has(Executor.C2));
    assertEquals("quick ", has(Executor.C1));
  }

  @Test
  void theInterpreterHasWhatNobodyCompiled() {
    assertEquals("qui none ", has(Executor.INTERPRETER));
  }

  @Test
  void inheritedMethodsCount() {
    assertTrue(Executor.C2.has(LIST, Inheriting.class, "whole"));
    assertFalse(Executor.INTERPRETER.has(LIST, Inheriting.class, "whole"));
  }
}
