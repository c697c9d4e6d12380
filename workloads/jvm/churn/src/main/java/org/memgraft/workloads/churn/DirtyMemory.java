package org.memgraft.workloads.churn;

import java.lang.reflect.Array;
import org.memgraft.workloads.harness.WorkloadFailure;

/** Fresh memory that was not zero. */
final class DirtyMemory extends WorkloadFailure {
  private static final long serialVersionUID = 1L;

  /** An array's element. */
  DirtyMemory(Object array, int index, Object found) {
    super(
        "a fresh %s of length %d holds %s at index %d, expected zero: its memory was not cleared"
            .formatted(array.getClass().getSimpleName(), Array.getLength(array), found, index));
  }

  /** An object's field. */
  DirtyMemory(Object object, String field, Object found) {
    super(
        "a fresh %s holds %s in field %s, expected zero: its memory was not cleared"
            .formatted(object.getClass().getSimpleName(), found, field));
  }
}
