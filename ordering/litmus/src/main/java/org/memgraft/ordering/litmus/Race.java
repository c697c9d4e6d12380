package org.memgraft.ordering.litmus;

import java.util.List;

/**
 * A litmus test that can be run: many independent instances of it, through which its threads race.
 *
 * <p>Public, as are all that the generated classes use: those have a class loader of their own.
 */
public interface Race {
  /** How many instances there are in a batch. */
  int batch();

  /** A new instance; null where instances are no objects. */
  Object fresh();

  /**
   * Does what one thread does in the instances with these numbers, and puts what it read in
   * instance i into results[i * n], ... where n is the number of its registers.
   */
  void sweep(int thread, Object[] instances, long[] results, int from, int to);

  /** Puts the final value of each variable into values, as {@link Type} spells it. */
  void finals(Object[] instances, int instance, long[] values);

  /** Brings an instance back to where it started. */
  void reset(Object[] instances, int instance);

  /** The methods of this class that must be compiled for the race to be one of compiled code. */
  List<String> racingMethods();
}
