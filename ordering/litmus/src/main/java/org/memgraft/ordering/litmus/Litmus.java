package org.memgraft.ordering.litmus;

import java.util.List;
import java.util.function.Supplier;

/**
 * A test: a race, and what its outcomes mean.
 *
 * @param name of what is tested, such as sb
 * @param location of the variables, such as field-int
 * @param summary what it is, in a few words
 * @param labels what each value of an outcome is: registers, then final values
 * @param registersOf numbers of the registers of each thread, as it reads them
 * @param type of the variables
 * @param largest the largest value that is ever written
 * @param showing by what executor {@code --expect reordered} wants it reordered
 */
record Litmus(
    String name,
    String location,
    String summary,
    List<String> labels,
    List<List<Integer>> registersOf,
    Type type,
    int largest,
    Showing showing,
    Grading grading,
    Supplier<Race> race) {

  /** What reorders a test on every JVM and x86 CPU. */
  enum Showing {
    /** Perhaps none. */
    NONE,
    /** C2 alone: others call so much of the library that a store is long done before the load. */
    C2,
    ANY
  }

  boolean mustShow(Executor executor) {
    return switch (showing) {
      case NONE -> false;
      case C2 -> executor == Executor.C2 || executor == Executor.DEFAULT;
      case ANY -> true;
    };
  }

  /** The name on the command line. */
  String id() {
    return name + "/" + location;
  }

  /** What its summary begins with: store-buffering. */
  String fullName() {
    return summary.split(":", 2)[0].replace(' ', '-');
  }

  int threads() {
    return registersOf.size();
  }

  int registers() {
    return registersOf.stream().mapToInt(List::size).sum();
  }
}
