package org.memgraft.workloads.harness;

import java.util.Arrays;
import java.util.OptionalInt;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** The options of every workload, declared once: picocli derives parsing, messages and help. */
@Command(
    name = "bin/workload",
    sortOptions = false,
    description = "Runs a real program and prints one JSON line per iteration.",
    footer = {"", "bin/workload --help says how to hand options to java."})
final class Options {
  @Parameters(paramLabel = "NAME", description = "The workload.")
  private String workload;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads that share the work (default: available processors).")
  private int threads = Runtime.getRuntime().availableProcessors();

  // Null, not 0, when not given: the default depends on the workload and on the size.
  @Option(
      names = "--iterations",
      paramLabel = "N",
      description = "Times the work is done (default: depends on the workload).")
  private Integer iterations;

  @Option(
      names = "--items",
      paramLabel = "N",
      description =
          "At least so many items of work per iteration: all of them again, until there are as many"
              + " (default: each once).")
  private int items = 1;

  @Option(
      names = "--size",
      paramLabel = "SIZE",
      description = "Work per iteration: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private Size size = Size.DEFAULT;

  @Option(
      names = "--standalone",
      description =
          "Spark only: master, worker and executor in JVMs of their own, each with this one's"
              + " options (Spark's standalone mode) instead of threads of this one.")
  private boolean standalone;

  @Option(names = "--help", usageHelp = true, description = "Print this help.")
  private boolean help;

  private Options() {}

  static Options parse(String... arguments) throws UsageException {
    Options options = new Options();
    try {
      commandLine(options).parseArgs(arguments);
    } catch (ParameterException e) {
      throw new UsageException(e.getMessage() + "; --help lists the options");
    }
    if (!options.help) {
      requirePositive("--threads", options.threads);
      requirePositive("--iterations", options.iterations().orElse(1));
      requirePositive("--items", options.items);
    }
    return options;
  }

  static String help() {
    return commandLine(new Options()).getUsageMessage(CommandLine.Help.Ansi.OFF);
  }

  String workload() {
    return workload;
  }

  int threads() {
    return threads;
  }

  OptionalInt iterations() {
    return iterations == null ? OptionalInt.empty() : OptionalInt.of(iterations);
  }

  int items() {
    return items;
  }

  Size size() {
    return size;
  }

  boolean standalone() {
    return standalone;
  }

  boolean helpRequested() {
    return help;
  }

  private static CommandLine commandLine(Options options) {
    return new CommandLine(options).registerConverter(Size.class, Options::size);
  }

  /** Instead of picocli's own: its message spells the sizes as Java does. */
  private static Size size(String text) {
    return Arrays.stream(Size.values())
        .filter(size -> size.toString().equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                new TypeConversionException(
                    "expected one of "
                        + Arrays.toString(Size.values())
                        + " but was '"
                        + text
                        + "'"));
  }

  private static void requirePositive(String option, int value) throws UsageException {
    if (value < 1) {
      throw new UsageException(
          "Invalid value for option '" + option + "': " + value + ", expected 1 or more");
    }
  }
}
