package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentOptionsTest {
  @Test
  void takesAFolderAndACheck(@TempDir Path folder) {
    assertEquals(new AgentOptions(null, false), AgentOptions.parse(null));
    assertEquals(new AgentOptions(folder, true), AgentOptions.parse("check,summary=" + folder));
  }

  @ParameterizedTest
  @CsvSource({
    "speed, option 'speed': expected summary=FOLDER or check",
    "summary=/no/such, summary=/no/such: expected a folder",
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
