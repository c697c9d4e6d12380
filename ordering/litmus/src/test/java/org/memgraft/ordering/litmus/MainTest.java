package org.memgraft.ordering.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MainTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(String... arguments) {
    return Main.run(arguments, new PrintStream(out), new PrintStream(err));
  }

  @Test
  void volatileVariablesAreSequentiallyConsistent() {
    int code = run("--tests", "sb/volatile-int", "--rounds", "100000", "--expect", "sc", "--json");
    assertEquals(Main.DONE, code, err.toString());
    assertTrue(out.toString().contains("\"not_sc\": 0"), out.toString());
    assertTrue(out.toString().startsWith("{\"schema\": 1, \"kind\": \"litmus\""), out.toString());
  }

  @Test
  void virtualThreadsRaceWhereThereAreSome() {
    boolean some = Runtime.version().feature() >= 21;
    // More threads than there may be CPUs, and such that wait for each other without a barrier.
    int code =
        run("--virtual-threads", "--tests", "iriw/volatile-int,peterson", "--rounds", "3000");
    assertEquals(some ? Main.DONE : Main.WRONG_USAGE, code, err.toString());
    String printed = some ? out.toString() : err.toString();
    assertTrue(printed.contains(some ? "; virtual threads; " : "Java 1"), printed);
  }

  @Test
  void listsWhatWouldBeRun() {
    assertEquals(Main.DONE, run("--list", "--tests", "iriw,mp/field-*"));
    assertTrue(
        out.toString().lines().allMatch(l -> l.matches("(iriw/|mp/field-).*")), out.toString());
    assertTrue(out.toString().lines().count() > 5);
  }

  @Test
  void fullNamesMeanTheSame() {
    assertEquals(Main.DONE, run("--list", "--test", "store-buffering"));
    String full = out.toString();
    out.reset();
    assertEquals(Main.DONE, run("--list", "--tests", "sb"));
    assertEquals(out.toString(), full);
  }

  @ParameterizedTest
  @CsvSource({
    "--tests=sc*, 'sc*'",
    "--rounds=0, expected 1 or more",
    "--rounds=many, many",
    "--expect=luck, 'expected one of [sc, java, reordered]'",
    "--executor=c3, c3",
    "--random=0, 'expected 1 or more'",
    "--random=some, some",
    "--sixty, --sixty",
  })
  void wrongUsageIsNamed(String option, String named) {
    assertEquals(Main.WRONG_USAGE, run(option));
    assertTrue(err.toString().contains(named), err.toString());
    assertEquals(1, err.toString().lines().count());
  }

  @Test
  void thisJvmShowsWhatItsModelAllows() {
    String tests = "sb/field-int,cowr,corw,mp/handle-release,double-checked,dekker";
    int code = run("--tests", tests, "--rounds", "50000", "--expect", "java");
    assertEquals(Main.DONE, code, err.toString());
    String said = "The Java memory model allows each outcome that was seen.";
    assertTrue(out.toString().contains(said), out.toString());
  }

  @Test
  void racesAreMadeAtRandom() {
    assertEquals(Main.DONE, run("--random", "3", "--seed", "4", "--list"), err.toString());
    String listed = out.toString();
    assertEquals(3, listed.lines().count());
    assertEquals(Main.DONE, run("--random", "3", "--seed", "4", "--rounds", "5000"));
    assertTrue(out.toString().contains("3 tests on Java"), out.toString());
  }

  /** No JVM does: so it is told that one did. */
  @Test
  void whatTheModelForbidsIsTold() throws UsageException {
    Options options = Options.parse("--tests", "cowr/field-int", "--expect", "java");
    Litmus test = options.select(Suite.all()).get(0);
    Outcomes outcomes = new Outcomes(test);
    outcomes.count(new int[] {1, 2});
    outcomes.count(new int[] {0, 2});
    outcomes.count(new int[] {Type.NONE, 2});
    Report report = new Report(options);
    report.add(new Report.Entry(test, new Runner.Run(3, true, outcomes)));

    assertEquals(Main.FAILED, Main.judge(options, report, new PrintStream(err)));
    String failed =
        "litmus: --expect java: outcomes that the Java memory model forbids of cowr/field-int\n";
    assertEquals(failed, err.toString());
    report.print(new PrintStream(out));
    assertTrue(out.toString().contains("r0=0 x=2: 1 (neither; Java forbids it)"), out.toString());
    assertTrue(out.toString().contains("r0=? x=2: 1 (neither; Java forbids it)"), out.toString());
    assertTrue(out.toString().contains("The Java memory model forbids what 2 rounds showed."));
    assertTrue(report.json(report.entries().get(0)).contains("\"not_java\": 2"));
  }

  @Test
  void reorderingCannotBeExpectedOfOtherTests() {
    assertEquals(Main.WRONG_USAGE, run("--tests", "mp", "--expect", "reordered"));
  }
}
