package org.memgraft.workloads.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionsTest {
  @Test
  void defaults() throws UsageException {
    Options options = Options.parse("lusearch");
    assertEquals("lusearch", options.workload());
    assertEquals(Runtime.getRuntime().availableProcessors(), options.threads());
    assertEquals(OptionalInt.empty(), options.iterations());
    assertEquals(1, options.items());
    assertEquals(Size.DEFAULT, options.size());
  }

  @Test
  void allOptions() throws UsageException {
    Options options =
        Options.parse("h2", "--threads", "3", "--iterations=5", "--items", "80", "--size", "small");
    assertEquals("h2", options.workload());
    assertEquals(3, options.threads());
    assertEquals(OptionalInt.of(5), options.iterations());
    assertEquals(80, options.items());
    assertEquals(Size.SMALL, options.size());
  }

  @ParameterizedTest
  @CsvSource({
    "--size tiny, tiny",
    "--size tiny, 'small, default'",
    "--threads 0, --threads",
    "--threads two, two",
    "--iterations -1, -1",
    "--items 0, --items",
    "--iterations, --iterations",
    "--colour, --colour",
    "h2, h2",
  })
  void wrongUsageNamesTheOffender(String wrong, String offender) {
    String[] arguments = ("churn " + wrong).split(" ");
    UsageException e = assertThrows(UsageException.class, () -> Options.parse(arguments));
    assertTrue(e.getMessage().contains(offender), e.getMessage());
    assertFalse(e.getMessage().contains("\n"), e.getMessage());
  }

  @Test
  void nameIsRequired() {
    UsageException e = assertThrows(UsageException.class, Options::parse);
    assertTrue(e.getMessage().contains("NAME"), e.getMessage());
  }

  @Test
  void helpNamesEveryOption() throws UsageException {
    assertTrue(Options.parse("--help").helpRequested());
    for (String option :
        new String[] {"--threads", "--iterations", "--items", "--size", "--help"}) {
      assertTrue(Options.help().contains(option), option);
    }
  }
}
