package org.memgraft.workloads.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StandaloneClusterTest {
  @Test
  void executorsAreCountedByTheirFolders(@TempDir Path folder) throws IOException {
    Path work = folder.resolve("work");
    assertEquals(0, StandaloneCluster.executors(work));
    Files.createDirectories(work.resolve("app-1/0/deeper"));
    Files.createDirectories(work.resolve("app-1/1"));
    Files.writeString(work.resolve("app-1/note"), "");
    Files.createDirectories(work.resolve("app-2/0"));
    assertEquals(3, StandaloneCluster.executors(work));
  }
}
