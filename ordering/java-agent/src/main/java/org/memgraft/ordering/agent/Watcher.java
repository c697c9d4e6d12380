package org.memgraft.ordering.agent;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Has each access of a class told to {@link Touches} instead of putting fences there. It leaves out
 * final and volatile fields: these are in order already.
 */
final class Watcher extends ClassVisitor {
  private static final int IN_ORDER = Opcodes.ACC_FINAL | Opcodes.ACC_VOLATILE;

  private final String name;
  private final ClassLoader loader;
  private final Hierarchy hierarchy;
  private final Touches touches;
  private final Machine machine;

  private Watcher(
      String name,
      ClassVisitor next,
      ClassLoader loader,
      Hierarchy hierarchy,
      Touches touches,
      Machine machine) {
    super(Rewriter.API, next);
    this.name = name;
    this.loader = loader;
    this.hierarchy = hierarchy;
    this.touches = touches;
    this.machine = machine;
  }

  /** The class with its accesses told. */
  static byte[] rewrite(
      byte[] original, ClassLoader loader, Hierarchy hierarchy, Touches touches, Machine machine) {
    ClassReader reader = new ClassReader(original);
    ClassWriter writer = new ClassWriter(reader, 0);
    String name = reader.getClassName();
    reader.accept(new Watcher(name, writer, loader, hierarchy, touches, machine), 0);
    return writer.toByteArray();
  }

  @Override
  public MethodVisitor visitMethod(
      int access, String method, String shape, String signature, String[] exceptions) {
    return new Method(super.visitMethod(access, method, shape, signature, exceptions), method);
  }

  private final class Method extends MethodVisitor {
    private final String elements;
    private final String calls;

    Method(MethodVisitor next, String method) {
      super(Rewriter.API, next);
      elements = Subset.nameOf(name, method + Subset.ELEMENTS);
      calls = Subset.nameOf(name, method + Subset.CALLS);
    }

    private void tell(String what, boolean store) {
      Bridge.callTouched(mv, touches.number(what, store));
    }

    @Override
    public void visitFieldInsn(int instruction, String of, String field, String shape) {
      Hierarchy.Field found = hierarchy.declaring(loader, of, field, shape);
      if ((found.access() & IN_ORDER) == 0) {
        boolean store = instruction == Opcodes.PUTFIELD || instruction == Opcodes.PUTSTATIC;
        tell(Subset.nameOf(found.owner(), field), store);
      }
      super.visitFieldInsn(instruction, of, field, shape);
    }

    @Override
    public void visitInsn(int instruction) {
      if (instruction >= Opcodes.IALOAD && instruction <= Opcodes.SALOAD) {
        tell(elements, false);
      } else if (instruction >= Opcodes.IASTORE && instruction <= Opcodes.SASTORE) {
        tell(elements, true);
      }
      super.visitInsn(instruction);
    }

    @Override
    public void visitMethodInsn(
        int instruction, String of, String called, String shape, boolean isInterface) {
      tellCall(Calls.of(of, called, shape, machine));
      super.visitMethodInsn(instruction, of, called, shape, isInterface);
    }

    @Override
    public void visitInvokeDynamicInsn(
        String called, String shape, Handle bootstrap, Object... arguments) {
      tellCall(Calls.of(bootstrap));
      super.visitInvokeDynamicInsn(called, shape, bootstrap, arguments);
    }

    /** A call may do both. */
    private void tellCall(Calls.Fences fences) {
      if (fences != null) {
        tell(calls, false);
        tell(calls, true);
      }
    }

    @Override
    public void visitMaxs(int stack, int variables) {
      super.visitMaxs(stack + 1, variables);
    }
  }
}
