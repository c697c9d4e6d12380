package org.memgraft.workloads.harness;

import java.util.Locale;

/** How much work one iteration is. */
public enum Size {
  /** Well under a second an iteration: for tests. */
  SMALL,
  /** About a second an iteration on two cores: for measuring. */
  DEFAULT;

  /** What differs between the sizes: the first at SMALL, the second at DEFAULT. */
  public <T> T pick(T small, T otherwise) {
    return this == SMALL ? small : otherwise;
  }

  /** The spelling of the command line. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
