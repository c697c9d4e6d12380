package org.memgraft.ordering.junit;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * A test in a JVM of its own, with a weak memory.
 *
 * @param id JUnit's unique id of the test
 */
record ForkedTest(String id, WeakMemoryTest asked, long seed) {
  private static final int GRACE_SECONDS = 5;

  /** Of what the other JVM printed, at the end. */
  private static final int MOST_CHARACTERS = 20_000;

  /** Of the JVM itself or of the build tool: another JVM has its own. */
  private static final Set<String> OWN_PROPERTIES =
      Set.of(
          "java",
          "jdk",
          "sun",
          "os",
          "user",
          "file",
          "path",
          "line",
          "native",
          "awt",
          "stdout",
          "stderr",
          "surefire");

  /** Returns where the test passed. */
  void run() throws IOException, InterruptedException {
    Path printed = Files.createTempFile("memgraft-", ".txt");
    try {
      Process process =
          new ProcessBuilder(command(true))
              .redirectErrorStream(true)
              .redirectOutput(printed.toFile())
              .start();
      boolean ended;
      try {
        ended = process.waitFor(asked.seconds(), TimeUnit.SECONDS);
        if (!ended) {
          // HotSpot prints all threads' stacks.
          new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid())).start().waitFor();
          process.waitFor(GRACE_SECONDS, TimeUnit.SECONDS);
        }
      } finally {
        process.destroyForcibly().waitFor();
      }
      if (!ended || process.exitValue() != 0) {
        fail(ended ? "" : "did not end within %d s".formatted(asked.seconds()), end(printed));
      }
    } finally {
      Files.deleteIfExists(printed);
    }
  }

  private void fail(String how, String printed) throws IOException {
    String what = how.isEmpty() ? firstLine(printed) : how;
    throw new AssertionError(
        """
        with weak memory (seed %d): %s
        To find the field: memgraft hunt --weak -- java @%s
        The JVM printed:
        %s"""
            .formatted(seed, what, argumentFile(), printed));
  }

  /** What the exception said, or else the first line. */
  private static String firstLine(String printed) {
    List<String> lines = printed.lines().toList();
    int trace = 0;
    while (trace < lines.size() && !lines.get(trace).startsWith("\tat ")) {
      trace++;
    }
    if (trace > 0 && trace < lines.size()) {
      return lines.get(trace - 1);
    }
    return lines.isEmpty() ? "it printed nothing" : lines.get(0);
  }

  private static String end(Path printed) throws IOException {
    Charset charset = Charset.forName(System.getProperty("native.encoding", "UTF-8"));
    String text = new String(Files.readAllBytes(printed), charset);
    return text.substring(Math.max(0, text.length() - MOST_CHARACTERS));
  }

  /** Kept, because whoever reads the message types a command with its name. */
  private Path argumentFile() throws IOException {
    List<String> words = command(false);
    Path file = Files.createTempFile("memgraft-", ".args");
    // As the java launcher reads it.
    return Files.write(
        file,
        words.subList(1, words.size()).stream()
            .map(word -> '"' + word.replace("\\", "\\\\").replace("\"", "\\\"") + '"')
            .toList());
  }

  private List<String> command(boolean weak) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(word -> !word.startsWith("-agentlib:jdwp"))
        .forEach(command::add);
    // Those that the build tool has set since.
    System.getProperties().stringPropertyNames().stream()
        .filter(name -> !OWN_PROPERTIES.contains(name.split("[.]")[0]))
        .sorted()
        .map(name -> "-D" + name + "=" + System.getProperty(name))
        .filter(word -> !command.contains(word))
        .collect(Collectors.toCollection(() -> command));
    if (weak) {
      command.add("-javaagent:" + jar() + "=weak=" + seed);
    }
    command.addAll(List.of(asked.jvm()));
    command.addAll(List.of("-cp", classPath(), ForkedMain.class.getName(), id));
    if (weak) {
      command.add(ForkedMain.WATCHED);
    }
    return command;
  }

  /** The tests', and JUnit's launcher, which a build tool has beside it. */
  private static String classPath() {
    String path = System.getProperty("java.class.path");
    String launcher = placeOf(LauncherFactory.class).toString();
    boolean has = List.of(path.split(File.pathSeparator)).contains(launcher);
    return has ? path : path + File.pathSeparator + launcher;
  }

  /** The jar with this class, which is the agent's, too. */
  private static Path jar() {
    Path jar = placeOf(ForkedTest.class);
    if (!Files.isRegularFile(jar)) {
      throw new IllegalStateException(
          "@WeakMemoryTest: expected its class in memgraft-ordering.jar, and found it in " + jar);
    }
    return jar;
  }

  private static Path placeOf(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
