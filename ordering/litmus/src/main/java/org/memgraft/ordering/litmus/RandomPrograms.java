package org.memgraft.ordering.litmus;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.memgraft.ordering.litmus.JavaModel.Mode;
import org.memgraft.ordering.litmus.Program.Between;
import org.memgraft.ordering.litmus.Program.Monitor;
import org.memgraft.ordering.litmus.Program.Read;
import org.memgraft.ordering.litmus.Program.Step;
import org.memgraft.ordering.litmus.Program.Way;
import org.memgraft.ordering.litmus.Program.Write;

/**
 * Makes programs at random, for mistakes that nobody has thought of. They are so small that the
 * models can go through all that they may do.
 */
final class RandomPrograms {
  private static final String[] PLAIN = {"x", "y"};
  private static final String[] VOLATILE = {"v", "vv"};

  /** Registers and final values, by which the models' work grows most. */
  private static final int MOST_LABELS = 4;

  /** Volatile accesses, and stretches with the lock, which the model puts in every order. */
  private static final int MOST_IN_A_ROW = 6;

  private static final int LARGEST_VALUE = 7;

  /** Without the loop: it writes more than once, and another thread may write between. */
  private static final List<Way> FOR_ALL = List.of(Way.CALLEE, Way.AWAY, Way.BRANCH, Way.HANDLER);

  private static final List<Way> WRITES_OF_ARRAYS = List.of(Way.FILL, Way.ARRAYCOPY);
  private static final List<Way> MODES_OF_WRITES = List.of(Way.OPAQUE, Way.RELEASE, Way.VOLATILE);
  private static final List<Way> MODES_OF_READS = List.of(Way.OPAQUE, Way.ACQUIRE, Way.VOLATILE);
  private static final List<Way> READS_OF_ARRAYS = List.of(Way.ARRAYCOPY, Way.CLONE, Way.COPYOF);

  private final Random random;

  RandomPrograms(long seed) {
    random = new Random(seed);
  }

  /**
   * The next program, as {@link Program} writes it.
   *
   * @param arrays whether its plain variables are elements of arrays
   */
  String next(boolean arrays) {
    while (true) {
      String text = any(arrays);
      Program program = Program.parse(text);
      if (inARow(program) <= MOST_IN_A_ROW && isTelling(program)) {
        return text;
      }
    }
  }

  private String any(boolean arrays) {
    int threads = random.nextInt(4) == 0 ? 3 : 2;
    int shortest = threads == 2 ? 2 : 1;
    int plain = 1 + random.nextInt(PLAIN.length);
    int volatiles = random.nextInt(5) < 2 ? 0 : 1 + random.nextInt(VOLATILE.length);
    List<String> variables = new ArrayList<>(List.of(PLAIN).subList(0, plain));
    variables.addAll(List.of(VOLATILE).subList(0, volatiles));
    boolean locks = random.nextInt(4) == 0;
    boolean mixesModes = random.nextInt(3) == 0;
    int[] written = new int[variables.size()];
    if (arrays) {
      // What is copied is always 1.
      Arrays.fill(written, 0, plain, 1);
    }
    int registers = 0;
    List<String> all = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      List<String> steps = new ArrayList<>();
      for (int left = shortest + random.nextInt(3); left > 0; left--) {
        int variable = random.nextInt(variables.size());
        boolean element = arrays && variable < plain;
        boolean reads = registers < MOST_LABELS && random.nextBoolean();
        if (reads) {
          String way =
              mixesModes && random.nextBoolean()
                  ? one(MODES_OF_READS)
                  : way(element ? READS_OF_ARRAYS : List.of());
          steps.add("r" + registers++ + "=" + variables.get(variable) + way);
        } else {
          String way =
              mixesModes && random.nextBoolean()
                  ? one(MODES_OF_WRITES)
                  : way(element ? WRITES_OF_ARRAYS : List.of());
          boolean copies = way.endsWith("arraycopy");
          int value = copies ? 1 : Math.min(++written[variable], LARGEST_VALUE);
          steps.add(variables.get(variable) + "=" + value + way);
        }
        if (random.nextInt(8) == 0) {
          steps.add(word(Between.values()[random.nextInt(Between.values().length)]));
        }
      }
      if (locks) {
        addStretches(steps);
      }
      all.add(String.join("; ", steps));
    }
    String text = String.join(" | ", all);
    int last = random.nextInt(2 * variables.size());
    boolean looks = registers < MOST_LABELS && last < variables.size();
    return looks ? text + " -> " + variables.get(last) : text;
  }

  /** One stretch with the lock, or two; one may be empty. */
  private void addStretches(List<String> steps) {
    int stretches = random.nextInt(3) == 0 ? 2 : 1;
    int[] ends = random.ints(2L * stretches, 0, steps.size() + 1).sorted().toArray();
    for (int i = ends.length; i-- > 0; ) {
      steps.add(ends[i], i % 2 == 0 ? "take" : "give");
    }
  }

  /** How the access is made: mostly as the location does it. */
  private String way(List<Way> more) {
    List<Way> ways = more.isEmpty() || random.nextBoolean() ? FOR_ALL : more;
    return random.nextInt(3) > 0 ? "" : one(ways);
  }

  private String one(List<Way> ways) {
    return " by " + word(ways.get(random.nextInt(ways.size())));
  }

  private static String word(Enum<?> name) {
    return name.name().toLowerCase(Locale.ROOT);
  }

  /**
   * Whether the Java memory model allows some outcomes that are not sequentially consistent, but
   * not all that could be made of the values written. Of the former, those are meant in which each
   * variable by itself is in order: others are less likely to show.
   */
  private static boolean isTelling(Program program) {
    int sc = Enumerator.sc(program).size();
    int java = JavaModel.outcomes(program, Mode.PLAIN).size();
    return sc < java
        && java < imaginable(program)
        && sc < JavaModel.outcomes(program, Mode.OPAQUE).size();
  }

  /** How many outcomes there are in which each value is 0 or one that is written there. */
  private static long imaginable(Program program) {
    long outcomes = 1;
    List<Integer> seen = new ArrayList<>(program.finals());
    for (Step step : program.threads().stream().flatMap(List::stream).toList()) {
      if (step instanceof Read read) {
        seen.add(read.variable());
      }
    }
    for (int variable : seen) {
      outcomes *=
          1
              + program.threads().stream()
                  .flatMap(List::stream)
                  .filter(step -> step instanceof Write write && write.variable() == variable)
                  .map(step -> ((Write) step).value())
                  .filter(value -> value != 0)
                  .distinct()
                  .count();
    }
    return outcomes;
  }

  private static long inARow(Program program) {
    return program.threads().stream()
        .flatMap(List::stream)
        .filter(
            step ->
                step == Monitor.TAKE
                    || Program.access(step).filter(program::isVolatile).isPresent())
        .count();
  }
}
