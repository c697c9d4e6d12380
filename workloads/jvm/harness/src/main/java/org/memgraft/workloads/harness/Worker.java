package org.memgraft.workloads.harness;

/** What one thread needs to work on its own; used by one thread at a time. */
@FunctionalInterface
public interface Worker {
  /**
   * Works on one item.
   *
   * @return the item's part of the checksum; it must depend on nothing but the item, since the
   *     parts of all items are summed in whatever order they come
   * @throws WorkloadFailure when the work came out wrong
   * @throws Exception when the work could not be done
   */
  long run(int item) throws Exception;
}
