package org.memgraft.workloads.spark;

import java.util.Iterator;
import java.util.Random;
import java.util.stream.IntStream;

/** Makes up text, a few words of which are frequent. */
final class Text {
  static final int VOCABULARY = 20_000;
  private static final int WORDS_PER_LINE = 16;
  private static final int LETTERS = 26;

  private Text() {}

  /** The lines of one partition. {@link Random}'s numbers are specified: the same on every JVM. */
  static Iterator<String> lines(int partition, int count) {
    Random random = new Random(partition);
    return IntStream.range(0, count).mapToObj(line -> line(random)).iterator();
  }

  private static String line(Random random) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < WORDS_PER_LINE; i++) {
      // Cubed, so that one word in three is among the most frequent 4 %.
      double drawn = random.nextDouble();
      line.append(i == 0 ? "" : " ").append(word((int) (VOCABULARY * drawn * drawn * drawn)));
    }
    return line.toString();
  }

  /** A word for each number, and another for each other: its digits as letters. */
  static String word(int number) {
    StringBuilder word = new StringBuilder();
    for (int rest = number; rest > 0 || word.isEmpty(); rest /= LETTERS) {
      word.append((char) ('a' + rest % LETTERS));
    }
    return word.toString();
  }
}
