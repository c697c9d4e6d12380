package org.memgraft.ordering.litmus;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** How often each outcome of a test was seen. */
final class Outcomes {
  /**
   * One outcome.
   *
   * @param text such as "r0=0 r1=1"; a value that nobody wrote is a question mark
   * @param java whether the Java memory model allows it. It lets a JVM tear plain longs and doubles
   *     in two (JLS 17.7), but one for a CPU of 64 bits has no reason to: here that is forbidden.
   */
  record Seen(String text, long count, Grade grade, boolean java) {}

  private final Litmus litmus;
  private final int base;
  private final long[] counts;

  Outcomes(Litmus litmus) {
    this.litmus = litmus;
    // One more than the largest, for the strange one.
    base = litmus.largest() + 2;
    counts = new long[(int) Math.pow(base, litmus.labels().size())];
  }

  /** Counts one; the values are in the order of the labels. */
  void count(int[] values) {
    int index = 0;
    for (int value : values) {
      index = index * base + (value < 0 ? base - 1 : Math.min(value, base - 1));
    }
    counts[index]++;
  }

  void add(Outcomes other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += other.counts[i];
    }
  }

  /** What is not SC first, and the frequent before the rare. */
  List<Seen> seen() {
    List<Seen> seen = new ArrayList<>();
    for (int index = 0; index < counts.length; index++) {
      if (counts[index] > 0) {
        seen.add(seen(index));
      }
    }
    seen.sort(
        Comparator.comparing(Seen::grade)
            .reversed()
            .thenComparing(Comparator.comparing(Seen::count).reversed()));
    return seen;
  }

  long notSc() {
    return seen().stream().filter(seen -> seen.grade() != Grade.SC).mapToLong(Seen::count).sum();
  }

  /** How often an outcome was seen that the Java memory model forbids. */
  long notJava() {
    return seen().stream().filter(seen -> !seen.java()).mapToLong(Seen::count).sum();
  }

  long all() {
    return seen().stream().mapToLong(Seen::count).sum();
  }

  private Seen seen(int index) {
    int labels = litmus.labels().size();
    Integer[] values = new Integer[labels];
    int rest = index;
    boolean strange = false;
    for (int i = labels - 1; i >= 0; i--) {
      values[i] = rest % base;
      rest /= base;
      strange |= values[i] == base - 1;
    }
    List<String> words = new ArrayList<>();
    for (int i = 0; i < labels; i++) {
      words.add(litmus.labels().get(i) + "=" + (values[i] == base - 1 ? "?" : values[i]));
    }
    List<Integer> outcome = List.of(values);
    Grade grade = strange ? Grade.NEITHER : litmus.grading().of(outcome);
    boolean java = !strange && litmus.grading().isJava(outcome);
    return new Seen(String.join(" ", words), counts[index], grade, java);
  }
}
