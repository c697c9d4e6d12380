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
    "--expect=luck, 'expected one of [sc, reordered]'",
    "--executor=c3, c3",
    "--sixty, --sixty",
  })
  void wrongUsageIsNamed(String option, String named) {
    assertEquals(Main.WRONG_USAGE, run(option));
    assertTrue(err.toString().contains(named), err.toString());
    assertEquals(1, err.toString().lines().count());
  }

  @Test
  void reorderingCannotBeExpectedOfOtherTests() {
    assertEquals(Main.WRONG_USAGE, run("--tests", "mp", "--expect", "reordered"));
  }
}
