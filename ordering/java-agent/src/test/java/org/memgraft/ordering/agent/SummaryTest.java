package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SummaryTest {
  @TempDir Path folder;

  @Test
  void eachReplacesTheOneBefore() throws IOException {
    Summary summary = new Summary(folder);
    summary.write("running", Map.of("failed", 0));
    summary.write("ended", Map.of("failed", 1));
    String[] names = folder.toFile().list();
    assertEquals(1, names.length);
    String text = Files.readString(folder.resolve(names[0]));
    assertTrue(text.contains("\"state\": \"ended\"") && text.contains("\"failed\": 1"), text);
  }

  @Test
  void oneThatCannotBeWrittenLeavesNothing() throws IOException {
    Summary summary = new Summary(folder);
    summary.write("running", Map.of());
    String[] names = folder.toFile().list();
    // A folder in its place, as a disk that is full cannot be had in a test.
    Files.delete(folder.resolve(names[0]));
    Files.createDirectory(folder.resolve(names[0]));
    assertThrows(IOException.class, () -> summary.write("ended", Map.of()));
    assertArrayEquals(names, folder.toFile().list());
  }
}
