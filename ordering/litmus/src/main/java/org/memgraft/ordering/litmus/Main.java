package org.memgraft.ordering.litmus;

import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import org.memgraft.ordering.litmus.Options.Expectation;

/** The entry of bin/litmus. To see what a test is start at {@link Suite}, then {@link Program}. */
public final class Main {
  static final int DONE = 0;
  static final int FAILED = 1;
  static final int WRONG_USAGE = 2;

  /** Set where a person looks at the terminal. */
  private static final boolean PROGRESS = Boolean.getBoolean("memgraft.litmus.progress");

  private Main() {}

  public static void main(String[] arguments) {
    System.exit(run(arguments, System.out, System.err));
  }

  /** Returns the exit code. */
  static int run(String[] arguments, PrintStream out, PrintStream err) {
    try {
      Options options = Options.parse(arguments);
      List<Litmus> tests = options.select(options.tests());
      if (options.list()) {
        tests.forEach(test -> out.printf("%-34s %s%n", test.id(), test.summary()));
        return DONE;
      }
      requireStoreBuffering(options, tests);
      Report report = race(options, tests, out, err);
      return judge(options, report, err);
    } catch (UsageException e) {
      err.println("litmus: " + e.getMessage());
      return WRONG_USAGE;
    } catch (Throwable e) {
      err.println("litmus: " + e);
      e.printStackTrace(err);
      return FAILED;
    }
  }

  private static Report race(Options options, List<Litmus> tests, PrintStream out, PrintStream err)
      throws InterruptedException, UsageException {
    ThreadFactory threads = options.virtualThreads() ? VirtualThreads.factory() : Thread::new;
    Report report = new Report(options);
    for (Litmus test : tests) {
      if (PROGRESS) {
        err.printf(
            "\r%-60s",
            "%d of %d: %s".formatted(report.entries().size() + 1, tests.size(), test.id()));
      }
      boolean mustShow =
          options.expectation() == Expectation.REORDERED && test.mustShow(options.executor());
      Runner.Run run =
          new Runner(test, options.seed(), threads)
              .run(options.rounds(), options.executor(), mustShow);
      Report.Entry entry = new Report.Entry(test, run);
      report.add(entry);
      if (options.json()) {
        out.println(report.json(entry));
        out.flush();
      }
    }
    if (PROGRESS) {
      err.printf("\r%60s\r", "");
    }
    if (!options.json()) {
      report.print(out);
    }
    return report;
  }

  private static void requireStoreBuffering(Options options, List<Litmus> tests)
      throws UsageException {
    if (options.expectation() == Expectation.REORDERED
        && tests.stream().noneMatch(test -> test.mustShow(options.executor()))) {
      throw new UsageException("--expect reordered looks at sb/*, and --tests has none of it");
    }
  }

  static int judge(Options options, Report report, PrintStream err) {
    Expectation expectation = options.expectation();
    if (expectation == null) {
      return DONE;
    }
    List<String> failed =
        report.entries().stream()
            .filter(entry -> fails(expectation, entry, options.executor()))
            .map(entry -> entry.litmus().id())
            .toList();
    if (failed.isEmpty()) {
      return DONE;
    }
    err.println(
        "litmus: --expect %s: %s of %s"
            .formatted(expectation, shown(expectation), String.join(", ", failed)));
    return FAILED;
  }

  private static boolean fails(Expectation expectation, Report.Entry entry, Executor executor) {
    return switch (expectation) {
      case SC -> entry.notSc() > 0;
      case JAVA -> entry.notJava() > 0;
      case REORDERED -> entry.litmus().mustShow(executor) && entry.notSc() == 0;
    };
  }

  private static String shown(Expectation expectation) {
    return switch (expectation) {
      case SC -> "outcomes that are not SC";
      case JAVA -> "outcomes that the Java memory model forbids";
      case REORDERED -> "no reordering";
    };
  }
}
