package org.memgraft.workloads.harness;

import java.util.Locale;
import java.util.Map;

/**
 * A program to measure on. {@link Main} finds it through {@link java.util.ServiceLoader}; {@link
 * Driver} says when each method is called.
 *
 * <p>An iteration is a fixed set of items. Threads take items from one shared counter, so that the
 * work, and with it the checksum, does not depend on how many threads there are.
 */
public interface Workload {

  /** The name on the command line; bin/workload derives it from the class name by the same rule. */
  default String name() {
    return getClass().getSimpleName().toLowerCase(Locale.ROOT);
  }

  /** How many iterations a run of this size has unless told otherwise. */
  default int defaultIterations(Size size) {
    return size.pick(3, 15);
  }

  /** What {@link Checksum#text} of every iteration of this size must be, on any JVM. */
  String expectedChecksum(Size size);

  /** Called before all else: how many threads share the work; for one whose library starts them. */
  default void useThreads(int threads) {}

  /**
   * Called before {@link #prepare} where the parts of the program are to be processes of their own.
   *
   * @throws UsageException where it has no such parts
   */
  default void standalone() throws UsageException {
    throw new UsageException("--standalone: has one process only; expected a workload of Spark");
  }

  /**
   * What threads have used so far that do work of this workload besides its workers, a library's
   * own, by a number for each. Such threads have to outlive an iteration to be counted.
   */
  default Map<Long, Meters.Used> usedByOwnThreads() throws Exception {
    return Map.of();
  }

  /**
   * Called once, before any of the following.
   *
   * @throws UsageException when this Java runtime lacks something the workload needs
   */
  void prepare(Size size) throws Exception;

  /** How many items one iteration has; called after {@link #prepare}. */
  int items();

  /**
   * Whether all items may be done again within one iteration, each time with the same sum; not
   * where they leave something behind.
   */
  default boolean repeatable() {
    return true;
  }

  /** Called once per thread, after {@link #prepare}. */
  Worker newWorker() throws Exception;

  /** Brings everything back to where an iteration starts; not timed. */
  default void beforeIteration() throws Exception {}

  /** The part of an iteration that one thread does after all items are done; timed. */
  default void afterItems() throws Exception {}

  /** The iteration's checksum, from the sum of what the workers returned; not timed. */
  default long checksum(long sumOfItems) throws Exception {
    return sumOfItems;
  }

  /** Called last, whatever went wrong before: ends what {@link #prepare} has started. */
  default void close() throws Exception {}
}
