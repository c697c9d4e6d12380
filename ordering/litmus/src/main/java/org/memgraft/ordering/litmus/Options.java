package org.memgraft.ordering.litmus;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** The options, declared once. bin/litmus has read --executor before, to give java its options. */
@Command(name = "bin/litmus", sortOptions = false)
final class Options {
  /** What the run is to prove. */
  enum Expectation {
    /** Every outcome was sequentially consistent. */
    SC,
    /** The Java memory model allows every outcome. */
    JAVA,
    /** Store buffering showed itself at every location. */
    REORDERED;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Option(
      names = {"--tests", "--test"},
      paramLabel = "GLOB",
      split = ",")
  private List<String> globs = List.of("*");

  @Option(names = "--random", paramLabel = "N")
  private Integer random;

  @Option(names = "--rounds", paramLabel = "N")
  private long rounds = 1_000_000;

  @Option(names = "--seed", paramLabel = "N")
  private long seed = 1;

  @Option(names = "--executor", paramLabel = "NAME")
  private Executor executor = Executor.DEFAULT;

  @Option(names = "--expect", paramLabel = "WHAT")
  private Expectation expectation;

  @Option(names = "--virtual-threads")
  private boolean virtualThreads;

  @Option(names = "--json")
  private boolean json;

  @Option(names = "--list")
  private boolean list;

  private Options() {}

  static Options parse(String... arguments) throws UsageException {
    Options options = new Options();
    try {
      new CommandLine(options)
          .registerConverter(Executor.class, oneOf(Executor.values()))
          .registerConverter(Expectation.class, oneOf(Expectation.values()))
          .parseArgs(arguments);
    } catch (ParameterException e) {
      throw new UsageException(e.getMessage() + "; --help lists the options");
    }
    requirePositive("--rounds", options.rounds);
    if (options.random != null) {
      requirePositive("--random", options.random);
    }
    return options;
  }

  private static void requirePositive(String option, long value) throws UsageException {
    if (value < 1) {
      throw new UsageException(
          "Invalid value for option '" + option + "': " + value + ", expected 1 or more");
    }
  }

  /** The suite, or races made at random. */
  List<Litmus> tests() {
    return random == null ? Suite.all() : Suite.random(random, seed);
  }

  /** Those of the tests whose NAME/LOCATION, NAME or full name is meant by one of the globs. */
  List<Litmus> select(List<Litmus> tests) throws UsageException {
    for (String glob : globs) {
      if (tests.stream().noneMatch(test -> matches(glob, test))) {
        throw new UsageException("--tests '" + glob + "': no test has that name; see --list");
      }
    }
    return tests.stream()
        .filter(test -> globs.stream().anyMatch(glob -> matches(glob, test)))
        .toList();
  }

  long rounds() {
    return rounds;
  }

  long seed() {
    return seed;
  }

  Executor executor() {
    return executor;
  }

  /** Null where nothing is to be proved. */
  Expectation expectation() {
    return expectation;
  }

  boolean virtualThreads() {
    return virtualThreads;
  }

  boolean json() {
    return json;
  }

  boolean list() {
    return list;
  }

  /** A star stands for any letters, a question mark for one. */
  private static boolean matches(String glob, Litmus test) {
    String regex =
        Arrays.stream(glob.split("(?<=[*?])|(?=[*?])"))
            .map(
                part ->
                    switch (part) {
                      case "*" -> ".*";
                      case "?" -> ".";
                      default -> Pattern.quote(part);
                    })
            .collect(Collectors.joining());
    return test.id().matches(regex) || test.name().matches(regex) || test.fullName().matches(regex);
  }

  /** Instead of picocli's own: its message spells the constants as Java does. */
  private static <T> ITypeConverter<T> oneOf(T[] values) {
    return text ->
        Arrays.stream(values)
            .filter(value -> value.toString().equals(text))
            .findFirst()
            .orElseThrow(
                () ->
                    new TypeConversionException(
                        "expected one of " + Arrays.toString(values) + " but was '" + text + "'"));
  }
}
