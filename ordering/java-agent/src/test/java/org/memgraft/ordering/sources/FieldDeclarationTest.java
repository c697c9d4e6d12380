package org.memgraft.ordering.sources;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FieldDeclarationTest {
  private static final String SOURCE =
      """
      package org.example;

      class Server {
        // private boolean stopped;
        private boolean stopped; String text = "boolean stopped;";
        int left, right[];
        java.util.Map<String, int[]> map = new java.util.HashMap<>();
        @Deprecated protected static transient long count = 1;

        void run() {
          boolean stopped = false;
          new Object() { boolean stopped; };
          class Local { boolean stopped; }
        }

        static class Inner {
          boolean stopped;
          enum Kind { A, B; int used; }
        }
      }

      interface Other { int CONSTANT = 1; }
      """;

  @TempDir Path folder;

  /** The text from the type on, and the names, for a class and a field. */
  private String found(String source, String owner, String field) throws IOException {
    Path file = Files.writeString(folder.resolve("Server.java"), source);
    Optional<FieldDeclaration.Found> found =
        FieldDeclaration.find(ToolProvider.getSystemJavaCompiler(), file, owner, field);
    return found
        .map(
            it ->
                it.line()
                    + ": "
                    + source.substring((int) it.offset()).lines().findFirst().orElse("")
                    + " "
                    + it.fields())
        .orElse("-");
  }

  private String found(String owner, String field) throws IOException {
    return found(SOURCE, "org.example." + owner, field);
  }

  @Test
  void findsTheDeclarationAndNothingLikeIt() throws IOException {
    String text = "5: boolean stopped; String text = \"boolean stopped;\"; ";
    assertEquals(text + List.of("stopped"), found("Server", "stopped"));
    assertEquals("17: boolean stopped; [stopped]", found("Server$Inner", "stopped"));
    assertEquals("18: int used; } [used]", found("Server$Inner$Kind", "used"));
    String map = "7: java.util.Map<String, int[]> map = new java.util.HashMap<>(); [map]";
    assertEquals(map, found("Server", "map"));
    assertEquals("8: long count = 1; [count]", found("Server", "count"));
  }

  @Test
  void namesAllThatADeclarationDeclares() throws IOException {
    assertEquals("6: int left, right[]; [left, right]", found("Server", "right"));
  }

  @Test
  void tellsWhatVolatileCannotStandWith() throws IOException {
    String source = "class A { private volatile int f; static final int G = 1; int h; }";
    Path file = Files.writeString(folder.resolve("A.java"), source);
    for (String[] expected : new String[][] {{"f", "volatile"}, {"G", "final"}, {"h", ""}}) {
      var found =
          FieldDeclaration.find(ToolProvider.getSystemJavaCompiler(), file, "A", expected[0]);
      assertEquals(expected[1], found.orElseThrow().modifier());
    }
  }

  @Test
  void findsNothingWhereThereIsNothing() throws IOException {
    assertEquals("-", found("Server", "started"));
    assertEquals("-", found("Server$1", "stopped"));
    assertEquals("-", found("Server$Local", "stopped"));
    assertEquals("-", found("Client", "stopped"));
  }

  @Test
  void readsWhatDoesNotCompile() throws IOException {
    String broken = "class Server { boolean stopped; void run( }";
    assertEquals("1: boolean stopped; void run( } [stopped]", found(broken, "Server", "stopped"));
    assertEquals("-", found("", "Server", "stopped"));
  }
}
