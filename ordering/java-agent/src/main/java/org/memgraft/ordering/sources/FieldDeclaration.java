package org.memgraft.ordering.sources;

import com.sun.source.tree.BlockTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.lang.model.element.Modifier;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Where a Java source declares a field, as javac's own parser reads it.
 *
 * <p>{@code java -cp memgraft-ordering.jar org.memgraft.ordering.sources.FieldDeclaration FILE
 * CLASS FIELD}: CLASS is a name as Class.getName has it. It prints the characters before the
 * field's type, the line, and which fields the same declaration declares: {@code 120 7 left,right};
 * behind that {@code volatile} or {@code final} where it is declared so. Exit code 1: the source
 * does not declare it. 2: wrong usage. 3: this JVM has no compiler.
 */
public final class FieldDeclaration {
  /**
   * A declaration.
   *
   * @param offset in characters from the file's start, of the type: where a modifier may stand
   * @param line counted from 1
   * @param fields all that it declares
   * @param modifier the one with which {@code volatile} cannot stand; empty: none
   */
  record Found(long offset, long line, List<String> fields, String modifier) {}

  private FieldDeclaration() {}

  /** See above. */
  public static void main(String[] words) throws IOException {
    if (words.length != 3 || !Files.isRegularFile(Path.of(words[0]))) {
      end("expected FILE CLASS FIELD, FILE being a Java source", 2);
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      end("this JVM has no Java compiler: use a JDK", 3);
    }
    Optional<Found> found = find(compiler, Path.of(words[0]), words[1], words[2]);
    if (found.isEmpty()) {
      end(words[0] + " declares no field " + words[2] + " in a class " + words[1], 1);
    }
    Found it = found.get();
    String fields = String.join(",", it.fields());
    System.out.println(
        (it.offset() + " " + it.line() + " " + fields + " " + it.modifier()).strip());
  }

  private static void end(String message, int exitCode) {
    System.err.println(message);
    System.exit(exitCode);
  }

  static Optional<Found> find(JavaCompiler compiler, Path file, String owner, String field)
      throws IOException {
    // What it says of mistakes in the source does not matter here.
    var diagnostics = new DiagnosticCollector<JavaFileObject>();
    try (StandardJavaFileManager files =
        compiler.getStandardFileManager(diagnostics, null, StandardCharsets.UTF_8)) {
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null,
                  files,
                  diagnostics,
                  List.of("-proc:none"),
                  null,
                  files.getJavaFileObjects(file));
      SourcePositions positions = Trees.instance(task).getSourcePositions();
      for (CompilationUnitTree unit : task.parse()) {
        Search search = new Search(unit, positions, owner, field);
        search.scan(unit, null);
        if (search.offset >= 0) {
          long line = unit.getLineMap().getLineNumber(search.offset);
          return Optional.of(new Found(search.offset, line, search.fields, search.modifier));
        }
      }
    }
    return Optional.empty();
  }

  /** Goes through the named classes of a file. */
  private static final class Search extends TreeScanner<Void, Void> {
    private final CompilationUnitTree unit;
    private final SourcePositions positions;
    private final String owner;
    private final String field;
    private String at;
    private long offset = -1;
    private final List<String> fields = new ArrayList<>();
    private String modifier = "";

    Search(CompilationUnitTree unit, SourcePositions positions, String owner, String field) {
      this.unit = unit;
      this.positions = positions;
      this.owner = owner;
      this.field = field;
      at = unit.getPackageName() == null ? "" : unit.getPackageName() + ".";
    }

    @Override
    public Void visitClass(ClassTree declared, Void unused) {
      String before = at;
      // A class without a name has no source that names it.
      at += declared.getSimpleName().isEmpty() ? "?" : declared.getSimpleName();
      if (at.equals(owner)) {
        look(declared);
      }
      at += "$";
      super.visitClass(declared, unused);
      at = before;
      return null;
    }

    /** A class in a method has a number in its name, which the source does not tell. */
    @Override
    public Void visitBlock(BlockTree block, Void unused) {
      String before = at;
      at += "?";
      super.visitBlock(block, null);
      at = before;
      return null;
    }

    private void look(ClassTree declared) {
      for (Tree member : declared.getMembers()) {
        if (member instanceof VariableTree variable && variable.getName().contentEquals(field)) {
          offset = start(variable);
          modifier =
              variable.getModifiers().getFlags().stream()
                  .filter(flag -> flag == Modifier.VOLATILE || flag == Modifier.FINAL)
                  .map(Modifier::toString)
                  .findFirst()
                  .orElse("");
        }
      }
      for (Tree member : declared.getMembers()) {
        // One declaration of several fields has its type once.
        if (member instanceof VariableTree variable && offset >= 0 && start(variable) == offset) {
          fields.add(variable.getName().toString());
        }
      }
    }

    private long start(VariableTree variable) {
      return positions.getStartPosition(unit, variable.getType());
    }
  }
}
