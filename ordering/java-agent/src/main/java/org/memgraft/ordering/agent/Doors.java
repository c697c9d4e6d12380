package org.memgraft.ordering.agent;

import java.util.EnumSet;
import java.util.Set;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Where the JDK lets code get at fields without an instruction that could have a check: it tells
 * {@link Speculation}. All reflection, method handles, VarHandles, updaters and Unsafe ask for a
 * field's offset first; native code must be loaded; a clone is made by the JVM.
 */
final class Doors extends ClassVisitor {
  /** Those that a JVM must have. */
  enum Door {
    OFFSET_OF_FIELD("jdk/internal/misc/Unsafe", "objectFieldOffset(Ljava/lang/reflect/Field;)J"),
    OFFSET_BY_NAME(
        "jdk/internal/misc/Unsafe", "objectFieldOffset(Ljava/lang/Class;Ljava/lang/String;)J"),
    NATIVE_FILE("java/lang/Runtime", "load0(Ljava/lang/Class;Ljava/lang/String;)V"),
    NATIVE_LIBRARY("java/lang/Runtime", "loadLibrary0(Ljava/lang/Class;Ljava/lang/String;)V"),
    /** A call in this class. */
    OFFSET_OF_MEMBER("java/lang/invoke/DirectMethodHandle", "");

    private final String owner;
    private final String method;

    Door(String owner, String method) {
      this.owner = owner;
      this.method = method;
    }
  }

  /** No class of a program extends one of these; and handles are needed to tell of a clone. */
  private static final String HANDLES = "java/lang/invoke/";

  private static final String NATIVES = "java/lang/invoke/MethodHandleNatives";
  private static final Set<Door> FOUND = EnumSet.noneOf(Door.class);

  private final String owner;

  private Doors(ClassVisitor next, String owner) {
    super(Rewriter.API, next);
    this.owner = owner;
  }

  static ClassVisitor before(ClassVisitor next, String owner) {
    return new Doors(next, owner);
  }

  /** Those that no class had. */
  static Set<Door> missing() {
    synchronized (FOUND) {
      Set<Door> missing = EnumSet.allOf(Door.class);
      missing.removeAll(FOUND);
      return missing;
    }
  }

  private static void found(Door door) {
    synchronized (FOUND) {
      FOUND.add(door);
    }
  }

  @Override
  public MethodVisitor visitMethod(
      int access, String name, String shape, String signature, String[] exceptions) {
    MethodVisitor next = super.visitMethod(access, name, shape, signature, exceptions);
    for (Door door : Door.values()) {
      if (door.owner.equals(owner) && door.method.equals(name + shape)) {
        found(door);
        return new Method(next, door);
      }
    }
    return new Method(next, null);
  }

  private final class Method extends MethodVisitor {
    private final Door door;

    Method(MethodVisitor next, Door door) {
      super(Rewriter.API, next);
      this.door = door;
    }

    @Override
    public void visitCode() {
      super.visitCode();
      if (door == null) {
        return;
      }
      mv.visitVarInsn(Opcodes.ALOAD, 1);
      if (door == Door.OFFSET_OF_FIELD) {
        mv.visitInsn(Opcodes.ACONST_NULL);
      } else {
        mv.visitVarInsn(Opcodes.ALOAD, 2);
      }
      boolean offset = door == Door.OFFSET_OF_FIELD || door == Door.OFFSET_BY_NAME;
      Bridge.callSpeculation(mv, offset ? "reached" : "nativeCode");
    }

    @Override
    public void visitMethodInsn(
        int instruction, String of, String name, String shape, boolean isInterface) {
      if (of.equals(NATIVES) && name.equals("objectFieldOffset")) {
        mv.visitInsn(Opcodes.DUP);
        mv.visitInsn(Opcodes.ACONST_NULL);
        Bridge.callSpeculation(mv, "reached");
        if (owner.equals(Door.OFFSET_OF_MEMBER.owner)) {
          found(Door.OFFSET_OF_MEMBER);
        }
      } else if (Speculation.isClone(of, name, shape) && !owner.startsWith(HANDLES)) {
        mv.visitInsn(Opcodes.DUP);
        Bridge.callSpeculation(mv, "touched");
      }
      super.visitMethodInsn(instruction, of, name, shape, isInterface);
    }

    @Override
    public void visitMaxs(int stack, int variables) {
      super.visitMaxs(stack + 2, variables);
    }
  }
}
