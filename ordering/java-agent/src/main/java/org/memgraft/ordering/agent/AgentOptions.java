package org.memgraft.ordering.agent;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;

/**
 * What stands behind the "=" of -javaagent, "KEY=VALUE,KEY,...".
 *
 * @param summary the folder for the summary of this JVM, in which "%" and two digits stand for a
 *     byte; null: none is written
 * @param check whether every rewritten class is read again ({@link Checker})
 * @param only the file that names what gets fences ({@link Subset}), written as the folder is;
 *     null: everything
 * @param delay whether what the file names gets delays instead of fences: a control, which costs as
 *     much time and orders nothing
 * @param observe whether accesses are told instead ({@link Watcher})
 * @param weak the seed of a memory that is as weak as may be for all but what the file names
 *     ({@link WeakMemory}); null: none
 * @param speculate whether accesses to the fields of objects have no fences as long as these stay
 *     with the threads that made them ({@link Speculation})
 */
record AgentOptions(
    Path summary,
    boolean check,
    Path only,
    boolean delay,
    boolean observe,
    Long weak,
    Speculate speculate) {
  private static final String EXPECTED =
      "expected summary=FOLDER, check, only=FILE, delay, observe, weak=SEED, speculate or"
          + " speculate=never-switch";

  /** Whether some accesses have no fences until another thread makes them need some. */
  enum Speculate {
    NO,
    SWITCHING,
    /** Nor afterwards: a measure of what asking for the thread costs. */
    NEVER_SWITCHING
  }

  /**
   * @throws IllegalArgumentException with one line for the user
   */
  static AgentOptions parse(String text) {
    Path summary = null;
    boolean check = false;
    Path only = null;
    boolean delay = false;
    boolean observe = false;
    Long weak = null;
    Speculate speculate = Speculate.NO;
    for (String word : text == null || text.isEmpty() ? new String[0] : text.split(",")) {
      if (word.equals("check")) {
        check = true;
      } else if (word.equals("delay")) {
        delay = true;
      } else if (word.equals("observe")) {
        observe = true;
      } else if (word.equals("speculate") || word.equals("speculate=never-switch")) {
        speculate = word.contains("=") ? Speculate.NEVER_SWITCHING : Speculate.SWITCHING;
      } else if (word.startsWith("weak=")) {
        weak = seed(word);
      } else if (word.startsWith("summary=")) {
        summary = place(word, Files::isDirectory, "a folder");
      } else if (word.startsWith("only=")) {
        only = place(word, Files::isRegularFile, "a file");
      } else {
        throw new IllegalArgumentException("option '" + word + "': " + EXPECTED);
      }
    }
    AgentOptions options = new AgentOptions(summary, check, only, delay, observe, weak, speculate);
    options.requireFitting(text);
    return options;
  }

  private void requireFitting(String text) {
    boolean someOnly = only != null || weak != null;
    if (check && (someOnly || observe) || someOnly && observe) {
      throw new IllegalArgumentException(
          "options '" + text + "': expected one of check, only, observe, weak");
    }
    if (speculate != Speculate.NO && (someOnly || observe)) {
      throw new IllegalArgumentException(
          "options '" + text + "': expected speculate without only, observe or weak");
    }
    if (delay && (only == null || weak != null)) {
      throw new IllegalArgumentException(
          "option 'delay': expected it together with only=FILE, which names what it delays");
    }
  }

  private static Long seed(String word) {
    try {
      return Long.valueOf(word.substring("weak=".length()));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(word + ": expected a whole number");
    }
  }

  private static Path place(String word, Predicate<Path> isRight, String expected) {
    try {
      // The JVM splits its options at white space and takes this one's own at commas.
      String text = word.substring(word.indexOf('=') + 1).replace("+", "%2B");
      Path place = Path.of(URLDecoder.decode(text, StandardCharsets.UTF_8)).toAbsolutePath();
      if (isRight.test(place)) {
        return place;
      }
    } catch (IllegalArgumentException e) {
      // No path at all.
    }
    throw new IllegalArgumentException(word + ": expected " + expected);
  }
}
