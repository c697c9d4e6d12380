package org.memgraft.ordering.litmus;

import java.util.List;

/**
 * A race of two threads that is no row of steps; what it is graded by stands in {@link Suite}.
 *
 * <p>Each is written out in full, also where another is nearly the same: what a race is about is
 * what compilers make of these very lines.
 *
 * @param <S> an instance
 */
abstract class HandWritten<S> implements Race {
  private static final int BATCH = 1024;

  /** What the first thread does; it puts what it saw into results[i * n], ... */
  abstract void race0(S shared, long[] results, int i);

  abstract void race1(S shared, long[] results, int i);

  /** A new instance. */
  abstract S make();

  /** Puts the final values into values. */
  void end(S shared, long[] values) {}

  @Override
  public final int batch() {
    return BATCH;
  }

  @Override
  public final Object fresh() {
    return make();
  }

  @Override
  @SuppressWarnings("unchecked")
  public final void sweep(int thread, Object[] instances, long[] results, int from, int to) {
    for (int i = from; i < to; i++) {
      if (thread == 0) {
        race0((S) instances[i], results, i);
      } else {
        race1((S) instances[i], results, i);
      }
    }
  }

  @Override
  @SuppressWarnings("unchecked")
  public final void finals(Object[] instances, int instance, long[] values) {
    end((S) instances[instance], values);
  }

  @Override
  public final void reset(Object[] instances, int instance) {
    instances[instance] = make();
  }

  @Override
  public final List<String> racingMethods() {
    return List.of("race0", "race1");
  }
}
