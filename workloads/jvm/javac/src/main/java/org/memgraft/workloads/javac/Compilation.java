package org.memgraft.workloads.javac;

import com.sun.source.util.JavacTask;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import javax.lang.model.element.Element;
import javax.lang.model.element.TypeElement;
import javax.lang.model.util.Elements;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.WorkloadFailure;

/** One thread's compiler. */
final class Compilation {
  /** The same language and library whatever JDK compiles. */
  private static final List<String> OPTIONS =
      List.of("--release", "11", "-proc:none", "-Xlint:none", "-g");

  private final JavaCompiler compiler = compiler();
  private final List<JavaFileObject> files;
  private final StandardJavaFileManager libraries;

  Compilation(List<Source> sources) {
    files = sources.stream().<JavaFileObject>map(SourceFile::new).toList();
    libraries = compiler.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8);
  }

  /** The JDK's own; on a Java runtime, which has none, the one on the class path. */
  private static JavaCompiler compiler() {
    JavaCompiler own = ToolProvider.getSystemJavaCompiler();
    return own != null ? own : ServiceLoader.load(JavaCompiler.class).findFirst().orElseThrow();
  }

  /**
   * Compiles all sources.
   *
   * @return a checksum of the classes and their members as the sources declare them; neither the
   *     bytes of the class files nor the set of synthetic classes is the same from one JDK to the
   *     next
   */
  long run() throws IOException, WorkloadFailure {
    DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
    MemoryOutput output = new MemoryOutput(libraries);
    JavacTask task =
        (JavacTask)
            compiler.getTask(Writer.nullWriter(), output, diagnostics, OPTIONS, null, files);
    List<String> classNames = new ArrayList<>();
    long checksum = 0;
    for (Element element : task.analyze()) {
      checksum += declared(element, task.getElements(), classNames);
    }
    task.generate();
    for (Diagnostic<?> diagnostic : diagnostics.getDiagnostics()) {
      if (diagnostic.getKind() == Diagnostic.Kind.ERROR) {
        throw new WorkloadFailure("the compiler refuses ANTLR's sources: " + diagnostic);
      }
    }
    for (String className : classNames) {
      checksum += Checksum.of(Checksum.of(className), output.magicNumberOf(className));
    }
    return checksum;
  }

  /** A checksum of the element and all it encloses; adds the classes among them to the names. */
  private static long declared(Element element, Elements elements, List<String> classNames) {
    if (element instanceof TypeElement type) {
      classNames.add(elements.getBinaryName(type).toString());
    }
    long checksum = Checksum.of(element.getKind() + " " + element);
    for (Element enclosed : element.getEnclosedElements()) {
      checksum += declared(enclosed, elements, classNames);
    }
    return checksum;
  }

  private static final class SourceFile extends SimpleJavaFileObject {
    private final String text;

    SourceFile(Source source) {
      super(URI.create("memory:///" + source.path()), Kind.SOURCE);
      text = source.text();
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private static final class ClassFile extends SimpleJavaFileObject {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    ClassFile(String className) {
      super(URI.create("memory:///" + className.replace('.', '/') + ".class"), Kind.CLASS);
    }

    @Override
    public OutputStream openOutputStream() {
      return bytes;
    }
  }

  private static final class MemoryOutput extends ForwardingJavaFileManager<JavaFileManager> {
    private final Map<String, ClassFile> files = new HashMap<>();

    MemoryOutput(JavaFileManager libraries) {
      super(libraries);
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
      return files.computeIfAbsent(className, ClassFile::new);
    }

    int magicNumberOf(String className) throws WorkloadFailure {
      ClassFile file = files.get(className);
      if (file == null || file.bytes.size() < Integer.BYTES) {
        throw new WorkloadFailure("the compiler has written no class file for " + className);
      }
      return ByteBuffer.wrap(file.bytes.toByteArray()).getInt();
    }
  }
}
