package org.memgraft.ordering.litmus;

import static org.objectweb.asm.Opcodes.*;

import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;

/**
 * Where the variables of a race live, and the instructions that reach them.
 *
 * <p>Local variable 0 of every racing method is the instance. The variables are written in line, so
 * that no call hides from the compilers that two accesses are next to each other.
 */
abstract class Place {
  final Type type;
  final JavaModel.Mode mode;

  Place(Type type, JavaModel.Mode mode) {
    this.type = type;
    this.mode = mode;
  }

  /** What stands before a variable's accesses in a class whose internal name is owner. */
  abstract void declare(ClassVisitor shape, String owner, int variables);

  /** More of the class's initializer. */
  void initialize(MethodVisitor code, String owner, int variables) {}

  /** More of an instance's constructor. */
  void construct(MethodVisitor code, String owner, int variables) {}

  /** Leaves the variable's value on the stack. */
  abstract void read(MethodVisitor code, String owner, int variable, int copy);

  /** Stores what value pushes. */
  abstract void write(MethodVisitor code, String owner, int variable, int copy, Runnable value);

  /** How often the class has the variables itself; 0 where each instance has its own. */
  int copies() {
    return 0;
  }

  boolean hidden() {
    return false;
  }

  /** The name of the variable's field, where it has one. */
  String field(int variable, int copy) {
    return name(variable);
  }

  static String name(int variable) {
    return "x" + variable;
  }

  static void pushInt(MethodVisitor code, int value) {
    if (value >= -1 && value <= 5) {
      code.visitInsn(ICONST_0 + value);
    } else {
      code.visitIntInsn(SIPUSH, value);
    }
  }

  /** A cache line of every x86 and most other CPUs. */
  private static final int LINE = 64;

  /** Instance fields. */
  static class Fields extends Place {
    private final int access;
    private final boolean adjacent;

    Fields(Type type, int access, boolean adjacent) {
      super(type, (access & ACC_VOLATILE) == 0 ? JavaModel.Mode.PLAIN : JavaModel.Mode.VOLATILE);
      this.access = access;
      this.adjacent = adjacent;
    }

    @Override
    void declare(ClassVisitor shape, String owner, int variables) {
      for (int variable = 0; variable < variables; variable++) {
        shape.visitField(access, name(variable), type.descriptor, null, null);
        for (int i = 1; !adjacent && i < LINE / type.bytes; i++) {
          shape.visitField(0, "apart" + variable + "_" + i, type.descriptor, null, null);
        }
      }
    }

    @Override
    void read(MethodVisitor code, String owner, int variable, int copy) {
      code.visitVarInsn(ALOAD, 0);
      code.visitFieldInsn(GETFIELD, owner, name(variable), type.descriptor);
    }

    @Override
    void write(MethodVisitor code, String owner, int variable, int copy, Runnable value) {
      code.visitVarInsn(ALOAD, 0);
      value.run();
      code.visitFieldInsn(PUTFIELD, owner, name(variable), type.descriptor);
    }
  }

  /** Instance fields of a hidden class, which no agent is shown. */
  static final class HiddenFields extends Fields {
    HiddenFields(Type type) {
      super(type, 0, false);
    }

    @Override
    boolean hidden() {
      return true;
    }
  }

  /** Static fields: a class has them only once, so there is one field per variable and copy. */
  static final class Statics extends Place {
    private static final int COPIES = 16;

    Statics(Type type) {
      super(type, JavaModel.Mode.PLAIN);
    }

    @Override
    int copies() {
      return COPIES;
    }

    @Override
    void declare(ClassVisitor shape, String owner, int variables) {
      for (int variable = 0; variable < variables; variable++) {
        for (int copy = 0; copy < COPIES; copy++) {
          shape.visitField(ACC_STATIC, field(variable, copy), type.descriptor, null, null);
          for (int i = 1; i < LINE / type.bytes; i++) {
            String apart = "apart" + variable + "_" + copy + "_" + i;
            shape.visitField(ACC_STATIC, apart, type.descriptor, null, null);
          }
        }
      }
    }

    @Override
    void read(MethodVisitor code, String owner, int variable, int copy) {
      code.visitFieldInsn(GETSTATIC, owner, field(variable, copy), type.descriptor);
    }

    @Override
    void write(MethodVisitor code, String owner, int variable, int copy, Runnable value) {
      value.run();
      code.visitFieldInsn(PUTSTATIC, owner, field(variable, copy), type.descriptor);
    }

    @Override
    String field(int variable, int copy) {
      return name(variable) + "_" + copy;
    }
  }

  /** Elements of one array per instance. */
  static class Arrays extends Place {
    private final int distance;

    Arrays(Type type, boolean adjacent) {
      super(type, JavaModel.Mode.PLAIN);
      distance = adjacent ? 1 : LINE / type.bytes;
    }

    String array() {
      return "[" + type.descriptor;
    }

    int index(int variable) {
      return variable * distance;
    }

    void pushArray(MethodVisitor code, String owner) {
      code.visitVarInsn(ALOAD, 0);
      code.visitFieldInsn(GETFIELD, owner, "array", array());
    }

    @Override
    void declare(ClassVisitor shape, String owner, int variables) {
      shape.visitField(0, "array", array(), null, null);
    }

    @Override
    void construct(MethodVisitor code, String owner, int variables) {
      code.visitVarInsn(ALOAD, 0);
      type.newArray(code, variables * distance);
      code.visitFieldInsn(PUTFIELD, owner, "array", array());
    }

    @Override
    void read(MethodVisitor code, String owner, int variable, int copy) {
      pushArray(code, owner);
      pushInt(code, index(variable));
      code.visitInsn(type.arrayLoad);
    }

    @Override
    void write(MethodVisitor code, String owner, int variable, int copy, Runnable value) {
      pushArray(code, owner);
      pushInt(code, index(variable));
      value.run();
      code.visitInsn(type.arrayStore);
    }
  }

  /** Elements of arrays, through java.lang.reflect.Array, whose methods are native. */
  static final class ReflectedArrays extends Arrays {
    private static final String ARRAY = "java/lang/reflect/Array";

    ReflectedArrays() {
      super(Type.INT, false);
    }

    @Override
    void read(MethodVisitor code, String owner, int variable, int copy) {
      pushArray(code, owner);
      pushInt(code, index(variable));
      code.visitMethodInsn(INVOKESTATIC, ARRAY, "getInt", "(Ljava/lang/Object;I)I", false);
    }

    @Override
    void write(MethodVisitor code, String owner, int variable, int copy, Runnable value) {
      pushArray(code, owner);
      pushInt(code, index(variable));
      value.run();
      code.visitMethodInsn(INVOKESTATIC, ARRAY, "setInt", "(Ljava/lang/Object;II)V", false);
    }
  }

  /** Elements of arrays, through a VarHandle's plain access. */
  static final class ArrayHandles extends Arrays {
    private static final String HANDLE = "java/lang/invoke/VarHandle";

    ArrayHandles(Type type) {
      super(type, false);
    }

    @Override
    void declare(ClassVisitor shape, String owner, int variables) {
      super.declare(shape, owner, variables);
      shape.visitField(ACC_STATIC | ACC_FINAL, "elements", "L" + HANDLE + ";", null, null);
    }

    @Override
    void initialize(MethodVisitor code, String owner, int variables) {
      code.visitLdcInsn(org.objectweb.asm.Type.getType(array()));
      code.visitMethodInsn(
          INVOKESTATIC,
          "java/lang/invoke/MethodHandles",
          "arrayElementVarHandle",
          "(Ljava/lang/Class;)L" + HANDLE + ";",
          false);
      code.visitFieldInsn(PUTSTATIC, owner, "elements", "L" + HANDLE + ";");
    }

    @Override
    void read(MethodVisitor code, String owner, int variable, int copy) {
      code.visitFieldInsn(GETSTATIC, owner, "elements", "L" + HANDLE + ";");
      pushArray(code, owner);
      pushInt(code, index(variable));
      code.visitMethodInsn(
          INVOKEVIRTUAL, HANDLE, "get", "(" + array() + "I)" + type.descriptor, false);
    }

    @Override
    void write(MethodVisitor code, String owner, int variable, int copy, Runnable value) {
      code.visitFieldInsn(GETSTATIC, owner, "elements", "L" + HANDLE + ";");
      pushArray(code, owner);
      pushInt(code, index(variable));
      value.run();
      code.visitMethodInsn(
          INVOKEVIRTUAL, HANDLE, "set", "(" + array() + "I" + type.descriptor + ")V", false);
    }
  }
}
