package org.memgraft.workloads.churn;

import java.lang.reflect.Array;
import org.memgraft.workloads.harness.WorkloadFailure;

/**
 * Fresh memory that was not zero.
 *
 * <p>Messages are put together by hand: where memory is dirty, the initializers of classes that a
 * format would load may fail first, and nobody would learn what was found.
 */
final class DirtyMemory extends WorkloadFailure {
  private static final long serialVersionUID = 1L;
  private static final String EXPECTED = ", expected zero: its memory was not cleared";

  /** An array's element. */
  DirtyMemory(Object array, int index, Object found) {
    super(
        fresh(array)
            .append(" of length ")
            .append(Array.getLength(array))
            .append(" holds ")
            .append(found)
            .append(" at index ")
            .append(index)
            .append(EXPECTED)
            .toString());
  }

  /** An object's field. */
  DirtyMemory(Object object, String field, Object found) {
    super(
        fresh(object)
            .append(" holds ")
            .append(found)
            .append(" in field ")
            .append(field)
            .append(EXPECTED)
            .toString());
  }

  private static StringBuilder fresh(Object dirty) {
    return new StringBuilder("a fresh ").append(dirty.getClass().getSimpleName());
  }
}
