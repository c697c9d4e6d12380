package org.memgraft.workloads.javac;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.memgraft.workloads.harness.Size;

/** One file of ANTLR's runtime, of one fixed version. */
record Source(String path, String text) {
  /** Any file in the sources jar finds the jar. */
  private static final String LANDMARK = "/org/antlr/v4/runtime/Parser.java";

  private static final String MISC = "org/antlr/v4/runtime/misc/";

  /** The collections of the package misc, which need none of the other files. */
  private static final Set<String> SMALL =
      Set.of(
          MISC + "AbstractEqualityComparator.java",
          MISC + "Array2DHashSet.java",
          MISC + "DoubleKeyMap.java",
          MISC + "EqualityComparator.java",
          MISC + "FlexibleHashMap.java",
          MISC + "IntSet.java",
          MISC + "IntegerList.java",
          MISC + "IntegerStack.java",
          MISC + "Interval.java",
          MISC + "MultiMap.java",
          MISC + "MurmurHash.java",
          MISC + "ObjectEqualityComparator.java",
          MISC + "OrderedHashSet.java",
          MISC + "Pair.java",
          MISC + "Triple.java");

  static List<Source> load(Size size) throws IOException {
    URL landmark = Source.class.getResource(LANDMARK);
    if (landmark == null) {
      throw new IOException("the class path lacks ANTLR's sources jar, which has " + LANDMARK);
    }
    List<Source> sources = new ArrayList<>();
    try (JarFile jar = ((JarURLConnection) landmark.openConnection()).getJarFile()) {
      for (JarEntry entry : jar.stream().toList()) {
        String path = entry.getName();
        if (size == Size.SMALL ? SMALL.contains(path) : path.endsWith(".java")) {
          try (InputStream in = jar.getInputStream(entry)) {
            sources.add(new Source(path, new String(in.readAllBytes(), StandardCharsets.UTF_8)));
          }
        }
      }
    }
    return sources;
  }
}
