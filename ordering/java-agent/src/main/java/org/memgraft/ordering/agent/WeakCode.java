package org.memgraft.ordering.agent;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** What {@link Weakener} has to know of code that it does not rewrite. */
final class WeakCode {
  /**
   * What of the JDK synchronizes with nobody, as long as it gets no object whose methods it may
   * call. Everything else of it is taken to. Integer.getInteger and its like read the system's
   * properties, which are a map that threads may share, and Math.random has one state for all.
   */
  private static final Pattern WITHOUT_ORDER =
      Pattern.compile(
          "java/lang/(Object\\.(<init>|getClass)|(Strict)?Math\\.(?!random).*|Thread\\.(onSpinWait|currentThread"
              + "|sleep|yield)|System\\.(nanoTime|currentTimeMillis)|(Enum|Record)\\.<init>"
              + "|(Boolean|Byte|Character|Short|Integer|Long|Float|Double|Number|String|StringBuilder)"
              + "\\.(?!get(Boolean|Integer|Long)$).*)");

  /** The parameters of such a method: numbers and strings. */
  private static final Pattern WITHOUT_OBJECTS =
      Pattern.compile("\\(([ZBCSIJFD]|Ljava/lang/String;)*\\).*");

  /** References to these show no state that could be old. */
  private static final Set<String> UNCHANGING =
      Set.of(
          "Ljava/lang/String;",
          "Ljava/lang/Boolean;",
          "Ljava/lang/Byte;",
          "Ljava/lang/Character;",
          "Ljava/lang/Short;",
          "Ljava/lang/Integer;",
          "Ljava/lang/Long;",
          "Ljava/lang/Float;",
          "Ljava/lang/Double;",
          "Ljava/lang/Class;");

  private WeakCode() {}

  /** By method: how many local variables it has. */
  static Map<String, Integer> locals(ClassReader reader) {
    Map<String, Integer> locals = new HashMap<>();
    reader.accept(
        new ClassVisitor(Rewriter.API) {
          @Override
          public MethodVisitor visitMethod(
              int access, String method, String shape, String signature, String[] exceptions) {
            return new MethodVisitor(Rewriter.API) {
              @Override
              public void visitMaxs(int stack, int variables) {
                locals.put(method + shape, variables);
              }
            };
          }
        },
        ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    return locals;
  }

  /** Whether a class comes with the JVM; arrays do. */
  static boolean isOfTheJdk(String owner) {
    return owner.startsWith("[") || Names.isOfAJdk(owner);
  }

  /** Tells methods of different names or shapes apart, nearly always; never 0. */
  static int idOf(String method, String shape) {
    return (method + shape).hashCode() | 1;
  }

  /** Whether a method of the JDK may synchronize with another thread. */
  static boolean orders(String owner, String method, String shape) {
    return !WITHOUT_ORDER.matcher(owner + '.' + method).matches()
        || !WITHOUT_OBJECTS.matcher(shape).matches();
  }

  /**
   * Whether an invokedynamic may: neither making a function nor joining numbers and strings does.
   */
  static boolean orders(Handle bootstrap, String shape) {
    return switch (bootstrap.getOwner()) {
      case "java/lang/invoke/LambdaMetafactory" -> false;
      case "java/lang/invoke/StringConcatFactory" -> !WITHOUT_OBJECTS.matcher(shape).matches();
      default -> true;
    };
  }

  /** Whether a field of that type, being final, shows what its object's constructor stored. */
  static boolean showsMore(String shape) {
    return shape.length() > 1 && !UNCHANGING.contains(shape);
  }

  /** Of the methods of {@link WeakMemory} for such values. */
  static String kindOf(Type type) {
    return switch (type.getSort()) {
      case Type.LONG -> "Long";
      case Type.FLOAT -> "Float";
      case Type.DOUBLE -> "Double";
      case Type.ARRAY, Type.OBJECT -> "Reference";
      default -> "Int";
    };
  }

  /** Of the elements that an instruction loads or stores. */
  static Type elementType(int instruction) {
    return switch (instruction) {
      case Opcodes.LALOAD, Opcodes.LASTORE -> Type.LONG_TYPE;
      case Opcodes.FALOAD, Opcodes.FASTORE -> Type.FLOAT_TYPE;
      case Opcodes.DALOAD, Opcodes.DASTORE -> Type.DOUBLE_TYPE;
      default -> Type.INT_TYPE;
    };
  }
}
