package org.memgraft.ordering.litmus;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Says what the tests showed: as lines of JSON (docs/formats.md, section 10), or for people. */
final class Report {
  private static final int WIDTH = 100;

  /** One test that was run. */
  record Entry(Litmus litmus, Runner.Run run) {
    long notSc() {
      return run.outcomes().notSc();
    }

    long notJava() {
      return run.outcomes().notJava();
    }
  }

  private final Executor executor;
  private final long seed;
  private final boolean virtualThreads;
  private final List<Entry> entries = new ArrayList<>();

  Report(Options options) {
    executor = options.executor();
    seed = options.seed();
    virtualThreads = options.virtualThreads();
  }

  void add(Entry entry) {
    entries.add(entry);
  }

  List<Entry> entries() {
    return entries;
  }

  /** One line, without its end. No string in it needs escaping. */
  String json(Entry entry) {
    String outcomes =
        entry.run().outcomes().seen().stream()
            .map(
                seen ->
                    "{\"outcome\": \"%s\", \"count\": %d, \"grade\": \"%s\", \"java\": %b}"
                        .formatted(seen.text(), seen.count(), seen.grade(), seen.java()))
            .collect(Collectors.joining(", ", "[", "]"));
    return ("{\"schema\": 1, \"kind\": \"litmus\", \"test\": \"%s\", \"location\": \"%s\","
            + " \"executor\": \"%s\", \"compiled\": %b, \"jvm\": \"%s\", \"threads\": \"%s\","
            + " \"seed\": %d,"
            + " \"rounds\": %d, \"not_sc\": %d, \"not_java\": %d, \"outcomes\": %s}")
        .formatted(
            entry.litmus().name(),
            entry.litmus().location(),
            executor,
            entry.run().compiled(),
            jvm(),
            virtualThreads ? "virtual" : "platform",
            seed,
            entry.run().rounds(),
            entry.notSc(),
            entry.notJava(),
            outcomes);
  }

  /** A table: what is not SC first, then the names of the tests that showed nothing else. */
  void print(PrintStream out) {
    out.printf(
        Locale.ROOT,
        "%d tests on Java %s, %s; %s%,d rounds and more of each; seed %d%n",
        entries.size(),
        jvm(),
        executor == Executor.DEFAULT ? "executors as HotSpot chooses" : executor,
        virtualThreads ? "virtual threads; " : "",
        entries.stream().mapToLong(entry -> entry.run().rounds()).min().orElse(0),
        seed);
    List<Entry> reordered =
        entries.stream()
            .filter(entry -> entry.notSc() > 0)
            .sorted(Comparator.comparing(Entry::notSc).reversed())
            .toList();
    if (!reordered.isEmpty()) {
      printReordered(reordered, out);
    }
    long notJava = entries.stream().mapToLong(Entry::notJava).sum();
    out.println(
        notJava == 0
            ? "\nThe Java memory model allows each outcome that was seen."
            : String.format(
                Locale.ROOT, "\nThe Java memory model forbids what %,d rounds showed.", notJava));
    List<String> others =
        entries.stream()
            .filter(entry -> entry.notSc() == 0)
            .map(entry -> entry.litmus().id())
            .toList();
    if (!others.isEmpty()) {
      out.printf(
          "%n%d of %d were sequentially consistent throughout:%n", others.size(), entries.size());
      printWrapped(others, out);
    }
    List<String> uncompiled =
        entries.stream()
            .filter(entry -> !entry.run().compiled())
            .map(entry -> entry.litmus().id())
            .toList();
    if (!uncompiled.isEmpty()) {
      String how = executor == Executor.INTERPRETER ? "run" : "compiled";
      out.printf("%nNot known to be %s by %s when counting began:%n", how, executor);
      printWrapped(uncompiled, out);
    }
  }

  private static void printReordered(List<Entry> reordered, PrintStream out) {
    int width = reordered.stream().mapToInt(entry -> entry.litmus().id().length()).max().orElse(0);
    String row = "%-" + Math.max(width, 4) + "s  %12s  %11s  %s%n";
    out.println();
    out.printf(Locale.ROOT, row, "test", "not SC", "per million", "outcomes that are not SC");
    for (Entry entry : reordered) {
      String outcomes =
          entry.run().outcomes().seen().stream()
              .filter(seen -> seen.grade() != Grade.SC)
              .map(
                  seen ->
                      String.format(
                          Locale.ROOT,
                          "%s: %,d (%s%s)",
                          seen.text(),
                          seen.count(),
                          seen.grade(),
                          seen.java() ? "" : "; Java forbids it"))
              .collect(Collectors.joining("; "));
      double perMillion = 1e6 * entry.notSc() / entry.run().rounds();
      out.printf(
          Locale.ROOT,
          row,
          entry.litmus().id(),
          String.format(Locale.ROOT, "%,d", entry.notSc()),
          String.format(Locale.ROOT, "%,.1f", perMillion),
          outcomes);
    }
  }

  private static void printWrapped(List<String> words, PrintStream out) {
    StringBuilder line = new StringBuilder(" ");
    for (String word : words) {
      if (line.length() + word.length() >= WIDTH) {
        out.println(line);
        line = new StringBuilder(" ");
      }
      line.append(' ').append(word);
    }
    out.println(line);
  }

  private static String jvm() {
    return System.getProperty("java.vm.version");
  }
}
