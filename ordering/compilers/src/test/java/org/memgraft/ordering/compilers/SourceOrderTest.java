package org.memgraft.ordering.compilers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What javac and scalac make of a program accesses memory in the order of its source, so that a JVM
 * that keeps the order of bytecode keeps the source's. The programs say at the end of each line
 * what it accesses; here they are compiled and run, and each access of theirs is noted.
 */
class SourceOrderTest {
  private static final Path SOURCES = Path.of("src/test/sources");
  private static final Pattern SAID = Pattern.compile(".*//((?: =?[a-z]| =?\\[\\])+)");

  @TempDir Path classes;

  /** The JDK that runs this, and those that Debian and Ubuntu keep beside it. */
  static List<Path> compilersOfJava() throws IOException {
    List<Path> found = new ArrayList<>();
    found.add(Path.of(System.getProperty("java.home"), "bin/javac").toRealPath());
    Path others = Path.of("/usr/lib/jvm");
    if (Files.isDirectory(others)) {
      try (Stream<Path> homes = Files.list(others)) {
        for (Path home : homes.sorted().toList()) {
          Path javac = home.resolve("bin/javac");
          if (Files.isExecutable(javac) && !found.contains(javac.toRealPath())) {
            found.add(javac.toRealPath());
          }
        }
      }
    }
    return found;
  }

  @ParameterizedTest
  @MethodSource("compilersOfJava")
  void javacKeepsTheOrder(Path javac) throws Exception {
    Path source = SOURCES.resolve("Accesses.java");
    String[] command = {
      javac.toString(), "--release", "17", "-g", "-d", classes.toString(), source.toString()
    };
    Process process = new ProcessBuilder(command).inheritIO().start();
    assertEquals(0, process.waitFor());
    assertKept(source);
  }

  static List<List<String>> optionsOfScala() {
    return List.of(List.of(), List.of("-opt:l:inline", "-opt-inline-from:**"));
  }

  @ParameterizedTest
  @MethodSource("optionsOfScala")
  void scalacKeepsTheOrder(List<String> options) throws Exception {
    Path source = SOURCES.resolve("Accesses.scala");
    List<String> arguments =
        new ArrayList<>(List.of("-usejavacp", "-nowarn", "-d", classes.toString()));
    arguments.addAll(options);
    arguments.add(source.toString());
    assertTrue(scala.tools.nsc.Main.process(arguments.toArray(String[]::new)));
    assertKept(source);
  }

  private void assertKept(Path source) throws Exception {
    NavigableMap<Integer, List<Seen>> said = said(source);
    Class<?> program = new Watched(classes).loadClass("Accesses");
    Constructor<?> make = program.getDeclaredConstructor();
    make.setAccessible(true);
    for (Method method : program.getDeclaredMethods()) {
      boolean compilers = method.isSynthetic() || method.getName().contains("$");
      if (compilers || method.getParameterCount() > 0 || Modifier.isStatic(method.getModifiers())) {
        continue;
      }
      method.setAccessible(true);
      Object instance = make.newInstance();
      Seen.NOTES.clear();
      method.invoke(instance);
      int first = Seen.NOTES.get(0).line();
      int last = Seen.NOTES.get(Seen.NOTES.size() - 1).line();
      NavigableMap<Integer, List<Seen>> lines = said.subMap(first, true, last, true);
      List<Seen> expected = lines.values().stream().flatMap(List::stream).toList();
      assertEquals(expected, Seen.NOTES, method.getName());
      lines.clear();
    }
    assertEquals(Map.of(), said, "what no method has done");
  }

  /** By line. */
  private static NavigableMap<Integer, List<Seen>> said(Path source) throws IOException {
    NavigableMap<Integer, List<Seen>> said = new TreeMap<>();
    int number = 0;
    for (String line : Files.readAllLines(source)) {
      number++;
      if (line.contains("//")) {
        Matcher matcher = SAID.matcher(line);
        assertTrue(matcher.matches(), line);
        List<Seen> accesses = new ArrayList<>();
        for (String what : matcher.group(1).strip().split(" ")) {
          accesses.add(new Seen(number, what));
        }
        said.put(number, accesses);
      }
    }
    return said;
  }
}
