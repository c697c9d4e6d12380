package org.memgraft.ordering.agent;

import java.util.Set;
import java.util.regex.Pattern;
import org.objectweb.asm.Type;

/** What {@link Weakener} has to know of code that it does not rewrite. */
final class WeakCode {
  /** What of the JDK synchronizes with nobody. Everything else of it is taken to. */
  private static final Pattern WITHOUT_ORDER =
      Pattern.compile(
          "java/lang/(Object\\.(<init>|getClass|hashCode|equals)|(Strict)?Math\\..*|Thread\\.(onSpinWait"
              + "|currentThread|sleep|yield)|System\\.(nanoTime|currentTimeMillis|identityHashCode)"
              + "|(Boolean|Byte|Character|Short|Integer|Long|Float|Double|Number|String|StringBuilder"
              + "|Enum|Record)\\..*)");

  private static final Pattern OF_A_JDK = Pattern.compile("\\[.*|(javax?|jdk|sun|com/sun)/.*");

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

  /** Whether a class comes with the JVM; arrays do. */
  static boolean isOfTheJdk(String owner) {
    return OF_A_JDK.matcher(owner).matches();
  }

  /** Whether a method of the JDK may synchronize with another thread. */
  static boolean orders(String owner, String method) {
    return !WITHOUT_ORDER.matcher(owner + '.' + method).matches();
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
}
