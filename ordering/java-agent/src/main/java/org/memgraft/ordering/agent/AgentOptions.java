package org.memgraft.ordering.agent;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What stands behind the "=" of -javaagent, "KEY=VALUE,KEY,...".
 *
 * @param summary the folder for the summary of this JVM, in which "%" and two digits stand for a
 *     byte; null: none is written
 * @param check whether every rewritten class is read again ({@link Checker})
 */
record AgentOptions(Path summary, boolean check) {
  private static final String EXPECTED = "expected summary=FOLDER or check";

  /**
   * @throws IllegalArgumentException with one line for the user
   */
  static AgentOptions parse(String text) {
    Path summary = null;
    boolean check = false;
    for (String word : text == null || text.isEmpty() ? new String[0] : text.split(",")) {
      if (word.equals("check")) {
        check = true;
      } else if (word.startsWith("summary=")) {
        summary = folder(word.substring("summary=".length()));
      } else {
        throw new IllegalArgumentException("option '" + word + "': " + EXPECTED);
      }
    }
    return new AgentOptions(summary, check);
  }

  private static Path folder(String text) {
    try {
      // The JVM splits its options at white space and takes this one's own at commas.
      String decoded = URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
      Path folder = Path.of(decoded).toAbsolutePath();
      if (Files.isDirectory(folder)) {
        return folder;
      }
    } catch (IllegalArgumentException e) {
      // Neither a folder.
    }
    throw new IllegalArgumentException("summary=" + text + ": expected a folder");
  }
}
