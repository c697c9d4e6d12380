package org.memgraft.ordering.litmus;

/** An exception that costs nothing to throw, for races that throw one in their midst. */
public final class Thrown extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public static final Thrown ONE = new Thrown();

  private Thrown() {
    super(null, null, false, false);
  }
}
