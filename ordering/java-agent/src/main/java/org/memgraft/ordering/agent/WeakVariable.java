package org.memgraft.ordering.agent;

/** What {@link WeakMemory} knows of one variable. Guarded by its stripe. */
final class WeakVariable {
  private static final int MOST_VALUES = 8;

  /** The value that one store gave it. */
  static final class Value {
    final int writer;

    /** The writer's stores are counted. */
    final long number;

    /** At which tick the store began: the value before it was in memory later than that. */
    final long began;

    final long bits;
    final Object reference;

    Value(int writer, long number, long began, long bits, Object reference) {
      this.writer = writer;
      this.number = number;
      this.began = began;
      this.bits = bits;
      this.reference = reference;
    }
  }

  /** What whoever loads a variable that is in order has seen thereby. */
  static final class Released {
    final long[] seen = new long[WeakMemory.MOST_THREADS];
    long synchronizedAt;
  }

  final Object at;
  final int where;
  final Value[] values = new Value[MOST_VALUES];
  int count;

  /** How many values were dropped from the front. */
  int dropped;

  /** By thread: the last value it got, counted with the dropped ones. */
  final int[] got = new int[WeakMemory.MOST_THREADS];

  /** By thread: the newest value when it looked last, counted likewise from 1. */
  final int[] looked = new int[WeakMemory.MOST_THREADS];

  /** By thread: whether it keeps an old one as long as no newer one comes, and it may. */
  final boolean[] keeps = new boolean[WeakMemory.MOST_THREADS];

  /** Of a variable that is in order; else null. */
  Released released;

  WeakVariable(Object at, int where) {
    this.at = at;
    this.where = where;
  }

  /** Whether the store that was told of last stored this. */
  boolean endsWith(long bits, Object reference) {
    Value last = values[count - 1];
    return last.bits == bits && last.reference == reference;
  }

  void add(Value value) {
    if (count == MOST_VALUES) {
      System.arraycopy(values, 1, values, 0, MOST_VALUES - 1);
      count--;
      dropped++;
    }
    values[count++] = value;
  }
}
