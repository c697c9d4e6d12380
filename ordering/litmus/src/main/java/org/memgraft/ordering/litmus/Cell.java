package org.memgraft.ordering.litmus;

/** A fresh object, for races that make one in their midst. */
public final class Cell {
  public int content;

  public Cell(int content) {
    this.content = content;
  }
}
