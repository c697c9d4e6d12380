package org.memgraft.ordering.litmus;

import static org.objectweb.asm.Opcodes.*;

import org.memgraft.ordering.litmus.Program.Way;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;

/**
 * Accesses of variables in a mode of VarHandle. The class has a handle for each variable and copy
 * that is accessed so.
 */
final class ModeAccesses {
  private static final String HANDLE = "java/lang/invoke/VarHandle";
  private static final String HANDLES = "java/lang/invoke/MethodHandles";
  private static final String DESCRIPTOR = "L" + HANDLE + ";";

  private final Place place;
  private final String owner;

  /** Of the class whose internal name is owner. */
  ModeAccesses(Place place, String owner) {
    this.place = place;
    this.owner = owner;
  }

  /**
   * @throws IllegalArgumentException if no handle can be had at the place
   */
  void declare(ClassVisitor shape, int variable, int copy) {
    if (place.hidden()) {
      throw new IllegalArgumentException("a hidden class cannot name itself to a VarHandle");
    }
    shape.visitField(ACC_STATIC | ACC_FINAL, handle(variable, copy), DESCRIPTOR, null, null);
  }

  /** More of the class's initializer, for a field. */
  void initialize(MethodVisitor code, int variable, int copy, String field) {
    String lookup = "L" + HANDLES + "$Lookup;";
    code.visitMethodInsn(INVOKESTATIC, HANDLES, "lookup", "()" + lookup, false);
    code.visitLdcInsn(field);
    code.visitMethodInsn(
        INVOKESTATIC,
        Type.Names.name(Maker.class),
        "handle",
        "(" + lookup + "Ljava/lang/String;)" + DESCRIPTOR,
        false);
    code.visitFieldInsn(PUTSTATIC, owner, handle(variable, copy), DESCRIPTOR);
  }

  /** More of the class's initializer, for elements of an array whose descriptor this is. */
  void initializeForElements(MethodVisitor code, int variable, String array) {
    code.visitLdcInsn(org.objectweb.asm.Type.getType(array));
    code.visitMethodInsn(
        INVOKESTATIC, HANDLES, "arrayElementVarHandle", "(Ljava/lang/Class;)" + DESCRIPTOR, false);
    code.visitFieldInsn(PUTSTATIC, owner, handle(variable, 0), DESCRIPTOR);
  }

  void pushHandle(MethodVisitor code, int variable, int copy) {
    code.visitFieldInsn(GETSTATIC, owner, handle(variable, copy), DESCRIPTOR);
  }

  /** With the handle and its coordinates on the stack, leaves the value there. */
  void get(MethodVisitor code, Way mode, String coordinates) {
    String descriptor = "(" + coordinates + ")" + place.type.descriptor;
    code.visitMethodInsn(INVOKEVIRTUAL, HANDLE, "get" + word(mode), descriptor, false);
  }

  /** With the handle, its coordinates and the value on the stack. */
  void set(MethodVisitor code, Way mode, String coordinates) {
    String descriptor = "(" + coordinates + place.type.descriptor + ")V";
    code.visitMethodInsn(INVOKEVIRTUAL, HANDLE, "set" + word(mode), descriptor, false);
  }

  private static String word(Way mode) {
    return switch (mode) {
      case OPAQUE -> "Opaque";
      case ACQUIRE -> "Acquire";
      case RELEASE -> "Release";
      case VOLATILE -> "Volatile";
      default -> throw new IllegalArgumentException(mode + " is no mode");
    };
  }

  private static String handle(int variable, int copy) {
    return "handle" + variable + "_" + copy;
  }
}
