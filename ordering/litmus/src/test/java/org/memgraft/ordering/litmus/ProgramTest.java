package org.memgraft.ordering.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.memgraft.ordering.litmus.Program.Between;
import org.memgraft.ordering.litmus.Program.Interlude;
import org.memgraft.ordering.litmus.Program.Monitor;
import org.memgraft.ordering.litmus.Program.Read;
import org.memgraft.ordering.litmus.Program.Way;
import org.memgraft.ordering.litmus.Program.Write;

class ProgramTest {
  @Test
  void parses() {
    Program program =
        Program.parse("x=1 by away; fresh; r1=y | take; y=3; give; r0=x by arraycopy -> y");
    assertEquals(
        List.of(
            List.of(
                new Write(0, 1, Way.AWAY),
                new Interlude(Between.FRESH),
                new Read(1, 1, Way.DIRECT)),
            List.of(
                Monitor.TAKE,
                new Write(1, 3, Way.DIRECT),
                Monitor.GIVE,
                new Read(0, 0, Way.ARRAYCOPY))),
        program.threads());
    assertEquals(List.of("r0", "r1", "y"), program.labels());
    assertEquals(3, program.largestValue());
    assertEquals(List.of(1), program.registersOf(0));
  }

  @ParameterizedTest
  @CsvSource({
    "x=8 | r0=x, 'x=8'",
    "x=1; nap | r0=x, 'nap'",
    "x=1 | r0=x; r0=x, 'r0'",
    "x=1 | r1=x, 'r1'",
    "x=1 by magic | r0=x, 'MAGIC'",
    "x=1 by acquire | r0=x, 'reads acquire'",
    "x=1 | r0=x by release, 'writes release'",
    "give; x=1 | r0=x, 'take no turns'",
    "take; x=1; take | r0=x, 'take no turns'",
    "take; x=1 | r0=x, 'without a give'",
  })
  void namesWhatItDoesNotUnderstand(String text, String named) {
    Exception e = assertThrows(IllegalArgumentException.class, () -> Program.parse(text));
    assertTrue(e.getMessage().contains(named), e.getMessage());
  }
}
