package org.memgraft.ordering.agent;

import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * What accesses to the fields of one class call while it is speculated on: a class of the package
 * java.lang with four static methods. The JVM replaces them when the class is switched, all at one
 * safepoint.
 *
 * <table>
 *   <caption>What they do</caption>
 *   <tr><td></td><td>before</td><td>afterwards</td></tr>
 *   <tr><td>check(owner)</td><td>asks whether this thread is the owner</td><td>nothing</td></tr>
 *   <tr><td>load()</td><td>nothing</td><td>an acquire fence</td></tr>
 *   <tr><td>store()</td><td>nothing</td><td>a full fence</td></tr>
 *   <tr><td>privateStore()</td><td>nothing</td><td>a release fence</td></tr>
 * </table>
 */
final class Holder {
  private static final String CHECK = "check";
  private static final String LOAD = "load";
  private static final String STORE = "store";
  private static final String PRIVATE_STORE = "privateStore";
  private static final String OF_OWNER = "(J)V";
  private static final String NOTHING = "()V";

  private Holder() {}

  /** The internal name of the one with this number. */
  static String nameOf(int number) {
    return Bridge.NAME + '$' + number;
  }

  /** Its class file. */
  static byte[] bytes(int number, boolean switched) {
    ClassWriter writer = new ClassWriter(0);
    int access = Opcodes.ACC_PUBLIC | Opcodes.ACC_FINAL | Opcodes.ACC_SUPER | Opcodes.ACC_SYNTHETIC;
    writer.visit(Opcodes.V17, access, nameOf(number), null, "java/lang/Object", null);
    MethodVisitor check = method(writer, CHECK, OF_OWNER);
    if (!switched) {
      Label end = new Label();
      check.visitVarInsn(Opcodes.LLOAD, 0);
      Bridge.callMe(check);
      check.visitInsn(Opcodes.LCMP);
      check.visitJumpInsn(Opcodes.IFEQ, end);
      check.visitLdcInsn(number);
      Bridge.callSpeculation(check, "foreign");
      check.visitLabel(end);
      check.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
    }
    end(check);
    MethodVisitor load = method(writer, LOAD, NOTHING);
    MethodVisitor store = method(writer, STORE, NOTHING);
    MethodVisitor privateStore = method(writer, PRIVATE_STORE, NOTHING);
    if (switched) {
      Fence.ACQUIRE.into(load);
      Fence.FULL.into(store);
      Fence.RELEASE.into(privateStore);
    }
    end(load);
    end(store);
    end(privateStore);
    writer.visitEnd();
    return writer.toByteArray();
  }

  private static MethodVisitor method(ClassWriter writer, String name, String shape) {
    int access = Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC;
    MethodVisitor code = writer.visitMethod(access, name, shape, null, null);
    code.visitCode();
    return code;
  }

  private static void end(MethodVisitor code) {
    code.visitInsn(Opcodes.RETURN);
    code.visitMaxs(4, 2);
    code.visitEnd();
  }

  /** Asks whether this thread is the owner that is on the stack. */
  static void callCheck(MethodVisitor code, int number) {
    code.visitMethodInsn(Opcodes.INVOKESTATIC, nameOf(number), CHECK, OF_OWNER, false);
  }

  static void callLoad(MethodVisitor code, int number) {
    callGuard(code, number, LOAD);
  }

  /** Behind a store, be it to an object that nobody else can have. */
  static void callStore(MethodVisitor code, int number, boolean isPrivate) {
    callGuard(code, number, isPrivate ? PRIVATE_STORE : STORE);
  }

  private static void callGuard(MethodVisitor code, int number, String name) {
    code.visitMethodInsn(Opcodes.INVOKESTATIC, nameOf(number), name, NOTHING, false);
  }
}
