package org.memgraft.ordering.agent;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Which class declares a field or a method. Bytecode names it by any class that has it, be it
 * inherited. Classes of one name from several loaders are taken for one.
 */
final class Hierarchy {
  /**
   * A field where it is declared.
   *
   * @param owner the internal name of its class
   * @param access its modifiers; 0 where they are not known
   * @param known whether the class that declares it could be read
   */
  record Field(String owner, int access, boolean known) {}

  private record Known(String parent, Map<String, Integer> fields, Set<String> methods) {
    static final Known NOTHING = new Known(null, Map.of(), Set.of());
  }

  private static final int DECLARATIONS_ONLY =
      ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES;

  private final Map<String, Known> classes = new ConcurrentHashMap<>();

  /** Keeps what a class declares. */
  void add(ClassReader reader) {
    classes.put(reader.getClassName(), read(reader));
  }

  private static Known read(ClassReader reader) {
    Map<String, Integer> fields = new HashMap<>();
    Set<String> methods = new HashSet<>();
    reader.accept(
        new ClassVisitor(Rewriter.API) {
          @Override
          public FieldVisitor visitField(
              int access, String name, String shape, String signature, Object value) {
            fields.put(name + ' ' + shape, access);
            return null;
          }

          @Override
          public MethodVisitor visitMethod(
              int access, String name, String shape, String signature, String[] exceptions) {
            if ((access & Opcodes.ACC_NATIVE) == 0) {
              methods.add(name + shape);
            }
            return null;
          }
        },
        DECLARATIONS_ONLY);
    return new Known(reader.getSuperName(), fields, methods);
  }

  /**
   * The field that an access means; where its class cannot be found, of the class that it names.
   *
   * @param loader that has the class with the access; null: the JVM's own
   */
  Field declaring(ClassLoader loader, String owner, String name, String shape) {
    String field = name + ' ' + shape;
    for (String at = owner; at != null; ) {
      Known known = find(loader, at);
      Integer access = known.fields().get(field);
      if (access != null) {
        return new Field(at, access, true);
      }
      at = known.parent();
    }
    return new Field(owner, 0, false);
  }

  /**
   * Whether a class, or a superclass of it, declares a method that is in bytecode, up to the first
   * class of the JDK's.
   */
  boolean declares(ClassLoader loader, String owner, String name, String shape) {
    for (String at = owner; at != null && !WeakCode.isOfTheJdk(at); ) {
      Known known = find(loader, at);
      if (known.methods().contains(name + shape)) {
        return true;
      }
      at = known.parent();
    }
    return false;
  }

  private Known find(ClassLoader loader, String name) {
    Known known = classes.get(name);
    if (known == null) {
      // A superclass is loaded only after the class that is being defined now.
      known = fromFile(loader, name).orElse(Known.NOTHING);
      Known before = classes.putIfAbsent(name, known);
      known = before == null ? known : before;
    }
    return known;
  }

  private static Optional<Known> fromFile(ClassLoader loader, String name) {
    String file = name + ".class";
    try (InputStream bytes =
        loader == null
            ? ClassLoader.getSystemResourceAsStream(file)
            : loader.getResourceAsStream(file)) {
      return bytes == null ? Optional.empty() : Optional.of(read(new ClassReader(bytes)));
    } catch (IOException | RuntimeException e) {
      // A class that was made at run time has no file; a newer one cannot be read.
      return Optional.empty();
    }
  }
}
