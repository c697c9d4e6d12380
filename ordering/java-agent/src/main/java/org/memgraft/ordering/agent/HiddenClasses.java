package org.memgraft.ordering.agent;

import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Has hidden classes rewritten too. The JVM offers them to no agent, but all of them come through
 * one method of the JDK, which gets their bytes: it hands them on to the rewriter first.
 */
final class HiddenClasses extends ClassVisitor {
  /** The nameless classes of System, one of which reaches into java.lang for other packages. */
  private static final String OWNER = "java/lang/System$";

  private static final String METHOD = "defineClass";
  private static final String SHAPE =
      "(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;[BLjava/security/ProtectionDomain;"
          + "ZILjava/lang/Object;)Ljava/lang/Class;";

  /** The parameter with the bytes; 0 is the object itself. */
  private static final int BYTES = 4;

  /** A class of the JDK's package, made here: a place that both the JDK and this agent can see. */
  private static final String BRIDGE = "java/lang/MemgraftOrdering";

  private static final String FUNCTION = "java/util/function/UnaryOperator";
  private static final String FIELD = "rewriter";

  private static volatile boolean joined;

  private HiddenClasses(ClassVisitor next) {
    super(Rewriter.API, next);
  }

  /** Every hidden class goes through the function as soon as the JDK's method is rewritten. */
  static void goThrough(UnaryOperator<byte[]> function, Instrumentation instrumentation)
      throws ReflectiveOperationException {
    instrumentation.redefineModule(
        Object.class.getModule(),
        Set.of(),
        Map.of(),
        Map.of("java.lang", Set.of(HiddenClasses.class.getModule())),
        Set.of(),
        Map.of());
    MethodHandles.Lookup lookup =
        MethodHandles.privateLookupIn(Object.class, MethodHandles.lookup());
    Class<?> bridge = lookup.defineClass(bridge());
    lookup.findStaticVarHandle(bridge, FIELD, UnaryOperator.class).setVolatile(function);
  }

  private static byte[] bridge() {
    ClassWriter writer = new ClassWriter(0);
    int access = Opcodes.ACC_FINAL | Opcodes.ACC_SUPER | Opcodes.ACC_SYNTHETIC;
    writer.visit(Opcodes.V17, access, BRIDGE, null, "java/lang/Object", null);
    int ofField = Opcodes.ACC_STATIC | Opcodes.ACC_VOLATILE;
    writer.visitField(ofField, FIELD, "L" + FUNCTION + ";", null, null).visitEnd();
    writer.visitEnd();
    return writer.toByteArray();
  }

  /** Whether the method was found. */
  static boolean joined() {
    return joined;
  }

  /** The visitor with this one in front of it where a class may have the method. */
  static ClassVisitor before(ClassVisitor next, String owner) {
    return owner.startsWith(OWNER) ? new HiddenClasses(next) : next;
  }

  @Override
  public MethodVisitor visitMethod(
      int access, String name, String shape, String signature, String[] exceptions) {
    MethodVisitor next = super.visitMethod(access, name, shape, signature, exceptions);
    if (!name.equals(METHOD) || !shape.equals(SHAPE)) {
      return next;
    }
    joined = true;
    return new MethodVisitor(Rewriter.API, next) {
      // No jump, so no new frame; and the method's own call of defineClass0 has a deeper stack.
      @Override
      public void visitCode() {
        super.visitCode();
        super.visitFieldInsn(Opcodes.GETSTATIC, BRIDGE, FIELD, "L" + FUNCTION + ";");
        super.visitVarInsn(Opcodes.ALOAD, BYTES);
        super.visitMethodInsn(
            Opcodes.INVOKEINTERFACE,
            "java/util/function/Function",
            "apply",
            "(Ljava/lang/Object;)Ljava/lang/Object;",
            true);
        super.visitTypeInsn(Opcodes.CHECKCAST, "[B");
        super.visitVarInsn(Opcodes.ASTORE, BYTES);
      }
    };
  }
}
