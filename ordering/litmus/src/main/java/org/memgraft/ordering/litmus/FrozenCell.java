package org.memgraft.ordering.litmus;

/** The same with a final field, at the end of whose constructor HotSpot has a release fence. */
public final class FrozenCell {
  public final int content;

  public FrozenCell(int content) {
    this.content = content;
  }
}
