package org.memgraft.ordering.litmus;

/** What a reference that is raced for refers to. */
public final class Value {
  public static final Value[] ALL = {
    new Value(0), new Value(1), new Value(2), new Value(3),
    new Value(4), new Value(5), new Value(6), new Value(7)
  };

  public final long number;

  private Value(long number) {
    this.number = number;
  }
}
