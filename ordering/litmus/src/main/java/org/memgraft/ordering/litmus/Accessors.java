package org.memgraft.ordering.litmus;

import static org.objectweb.asm.Opcodes.*;

import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;

/**
 * Places whose int fields are reached through an object made for each: a VarHandle, a Field, an
 * updater, a pair of MethodHandles.
 */
final class Accessors extends Place {

  /**
   * How one kind of object is had and used.
   *
   * @param object its class
   * @param maker the static method of {@link Maker} that makes one for a field
   * @param get the method that reads, and its descriptor with the owner's left out as {@code %s}
   */
  private record Access(
      String object, String maker, String get, String getShape, String set, String setShape) {}

  private static final String HANDLE = "java/lang/invoke/VarHandle";
  private static final String FIELD = "java/lang/reflect/Field";
  private static final String UPDATER = "java/util/concurrent/atomic/AtomicIntegerFieldUpdater";

  private final Access access;
  private final int fieldAccess;

  private Accessors(Access access, int fieldAccess, JavaModel.Mode mode) {
    super(Type.INT, mode);
    this.access = access;
    this.fieldAccess = fieldAccess;
  }

  /** Such as "get" and "set", "getAcquire" and "setRelease". */
  static Place handles(String get, String set, JavaModel.Mode mode) {
    return new Accessors(new Access(HANDLE, "handle", get, "(L%s;)I", set, "(L%s;I)V"), 0, mode);
  }

  static Place reflection() {
    return new Accessors(
        new Access(
            FIELD, "field", "getInt", "(Ljava/lang/Object;)I", "setInt", "(Ljava/lang/Object;I)V"),
        0,
        JavaModel.Mode.PLAIN);
  }

  /** Its loads are volatile, which orders more than acquire does. */
  static Place lazySet() {
    return new Accessors(
        new Access(
            UPDATER,
            "updater",
            "get",
            "(Ljava/lang/Object;)I",
            "lazySet",
            "(Ljava/lang/Object;I)V"),
        ACC_VOLATILE,
        JavaModel.Mode.RELEASE_ACQUIRE);
  }

  @Override
  void declare(ClassVisitor shape, String owner, int variables) {
    new Fields(type, ACC_PUBLIC | fieldAccess, false).declare(shape, owner, variables);
    for (int variable = 0; variable < variables; variable++) {
      shape.visitField(ACC_STATIC | ACC_FINAL, accessor(variable), descriptor(), null, null);
    }
  }

  @Override
  void initialize(MethodVisitor code, String owner, int variables) {
    for (int variable = 0; variable < variables; variable++) {
      code.visitMethodInsn(
          INVOKESTATIC,
          "java/lang/invoke/MethodHandles",
          "lookup",
          "()Ljava/lang/invoke/MethodHandles$Lookup;",
          false);
      code.visitLdcInsn(name(variable));
      code.visitMethodInsn(
          INVOKESTATIC,
          Type.Names.name(Maker.class),
          access.maker(),
          "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;)" + descriptor(),
          false);
      code.visitFieldInsn(PUTSTATIC, owner, accessor(variable), descriptor());
    }
  }

  @Override
  void read(MethodVisitor code, String owner, int variable, int copy) {
    code.visitFieldInsn(GETSTATIC, owner, accessor(variable), descriptor());
    code.visitVarInsn(ALOAD, 0);
    code.visitMethodInsn(
        INVOKEVIRTUAL, access.object(), access.get(), access.getShape().formatted(owner), false);
  }

  @Override
  void write(MethodVisitor code, String owner, int variable, int copy, Runnable value) {
    code.visitFieldInsn(GETSTATIC, owner, accessor(variable), descriptor());
    code.visitVarInsn(ALOAD, 0);
    value.run();
    code.visitMethodInsn(
        INVOKEVIRTUAL, access.object(), access.set(), access.setShape().formatted(owner), false);
  }

  private String descriptor() {
    return "L" + access.object() + ";";
  }

  private static String accessor(int variable) {
    return "to_" + name(variable);
  }
}
