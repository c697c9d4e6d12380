package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentOptionsTest {
  private static final AgentOptions.Speculate NO = AgentOptions.Speculate.NO;

  @Test
  void takesAFolderAndACheck(@TempDir Path folder) {
    assertEquals(
        new AgentOptions(null, false, null, false, false, null, NO), AgentOptions.parse(null));
    AgentOptions both = new AgentOptions(folder, true, null, false, false, null, NO);
    assertEquals(both, AgentOptions.parse("check,summary=" + folder));
    AgentOptions observing = new AgentOptions(folder, false, null, false, true, null, NO);
    assertEquals(observing, AgentOptions.parse("observe,summary=" + folder));
  }

  @Test
  void takesASeed() {
    AgentOptions seeded = new AgentOptions(null, false, null, false, false, -7L, NO);
    assertEquals(seeded, AgentOptions.parse("weak=-7"));
  }

  @Test
  void takesSpeculation() {
    AgentOptions switching =
        new AgentOptions(null, true, null, false, false, null, AgentOptions.Speculate.SWITCHING);
    assertEquals(switching, AgentOptions.parse("check,speculate"));
    assertEquals(
        AgentOptions.Speculate.NEVER_SWITCHING,
        AgentOptions.parse("speculate=never-switch").speculate());
  }

  @Test
  void takesAFile(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("a, b"), "");
    AgentOptions named = new AgentOptions(null, false, file, true, false, null, NO);
    assertEquals(named, AgentOptions.parse("delay,only=" + folder + "/a%2C%20b"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "speed | option 'speed': expected summary=FOLDER, check, only=FILE, delay, observe,"
            + " weak=SEED, speculate or speculate=never-switch",
        "only=/no/such | only=/no/such: expected a file",
        "observe | options 'check,observe': expected one of check, only, observe, weak",
        "weak=1 | options 'check,weak=1': expected one of check, only, observe, weak",
        "speculate,weak=1 | options 'check,speculate,weak=1': expected one of check, only, observe,"
            + " weak",
        "speculate=now | option 'speculate=now': expected summary=FOLDER, check, only=FILE, delay,"
            + " observe, weak=SEED, speculate or speculate=never-switch",
        "weak=one | weak=one: expected a whole number",
        "delay | option 'delay': expected it together with only=FILE, which names what it delays",
        "summary=/no/such | summary=/no/such: expected a folder",
      })
  void refusesOthers(String text, String message) {
    var refused =
        assertThrows(IllegalArgumentException.class, () -> AgentOptions.parse("check," + text));
    assertEquals(message, refused.getMessage());
  }

  @Test
  void aSummaryIsJson() {
    Map<String, Object> value = new LinkedHashMap<>();
    value.put("text", "a \"quoted\" \\ line\n");
    value.put("numbers", List.of(1, 2.5));
    value.put("none", null);
    assertEquals(
        "{\"text\": \"a \\\"quoted\\\" \\\\ line\\u000a\", \"numbers\": [1, 2.5], \"none\": null}",
        Summary.json(value));
    assertTrue(Summary.json(Map.of()).equals("{}"));
  }
}
