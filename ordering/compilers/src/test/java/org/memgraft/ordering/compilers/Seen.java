package org.memgraft.ordering.compilers;

import java.util.ArrayList;
import java.util.List;

/** An access of a watched program: its line, and a, =a, [] or =[]. */
public record Seen(int line, String what) {
  /** In order; the program calls note before each access. */
  static final List<Seen> NOTES = new ArrayList<>();

  public static void note(int line, String what) {
    NOTES.add(new Seen(line, what));
  }
}
