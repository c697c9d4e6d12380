package org.memgraft.workloads.lucene;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.TextField;
import org.memgraft.workloads.harness.Size;

/**
 * Real text that every machine has once the build has run: Lucene's own Java sources, of one fixed
 * version, cut into pieces so that there are enough documents to rank.
 */
final class Corpus {
  static final String TEXT = "text";
  static final String LINE = "line";
  static final String PATH = "path";

  /** Any file in the sources jar finds the jar. */
  private static final String LANDMARK = "/org/apache/lucene/index/IndexWriter.java";

  private static final int LINES_PER_PIECE = 40;
  private static final int SMALL_TAKES_EVERY = 16;

  private Corpus() {}

  /** Some lines of one source file. */
  record Piece(String path, int firstLine, String text) {
    Document toDocument() {
      Document document = new Document();
      document.add(new StoredField(PATH, path));
      document.add(new NumericDocValuesField(LINE, firstLine));
      document.add(new TextField(TEXT, text, Field.Store.YES));
      return document;
    }
  }

  /** All pieces, always in the same order. */
  static List<Piece> load(Size size) throws IOException {
    URL landmark = Corpus.class.getResource(LANDMARK);
    if (landmark == null) {
      throw new IOException("the class path lacks Lucene's sources jar, which has " + LANDMARK);
    }
    List<Piece> pieces = new ArrayList<>();
    try (JarFile jar = ((JarURLConnection) landmark.openConnection()).getJarFile()) {
      List<JarEntry> files =
          jar.stream()
              .filter(entry -> entry.getName().endsWith(".java"))
              .sorted(Comparator.comparing(JarEntry::getName))
              .toList();
      int step = size.pick(SMALL_TAKES_EVERY, 1);
      for (int i = 0; i < files.size(); i += step) {
        try (InputStream in = jar.getInputStream(files.get(i))) {
          String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
          cut(files.get(i).getName(), text.lines().toList(), pieces);
        }
      }
    }
    return pieces;
  }

  private static void cut(String path, List<String> lines, List<Piece> pieces) {
    for (int first = 0; first < lines.size(); first += LINES_PER_PIECE) {
      int end = Math.min(first + LINES_PER_PIECE, lines.size());
      pieces.add(new Piece(path, first + 1, String.join("\n", lines.subList(first, end))));
    }
  }
}
