package org.memgraft.ordering.agent;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Has the plain accesses of a class go through {@link WeakMemory}, which may give a load an older
 * value. Memory itself always has the newest one. Array elements that are references stay as they
 * are: their type is not known here. So do fields of a class that cannot be read.
 */
final class Weakener extends ClassVisitor {
  private final FieldNumbers numbers;
  private final Hierarchy hierarchy;
  private final Subset inOrder;
  private final ClassLoader loader;
  private final Map<String, Integer> locals;
  private boolean hasFrames;
  private String name;
  private String parent;

  private Weakener(
      ClassVisitor next,
      FieldNumbers numbers,
      Hierarchy hierarchy,
      Subset inOrder,
      ClassLoader loader,
      Map<String, Integer> locals) {
    super(Rewriter.API, next);
    this.numbers = numbers;
    this.hierarchy = hierarchy;
    this.inOrder = inOrder;
    this.loader = loader;
    this.locals = locals;
  }

  /**
   * The class with its accesses rewritten.
   *
   * @param inOrder names what is taken to be volatile, though it is not declared so
   */
  static byte[] rewrite(
      byte[] original,
      ClassLoader loader,
      FieldNumbers numbers,
      Hierarchy hierarchy,
      Subset inOrder) {
    ClassReader reader = new ClassReader(original);
    ClassWriter writer = new ClassWriter(reader, 0);
    reader.accept(
        new Weakener(writer, numbers, hierarchy, inOrder, loader, WeakCode.locals(reader)), 0);
    return writer.toByteArray();
  }

  @Override
  public void visit(
      int version, int access, String name, String signature, String parent, String[] interfaces) {
    hasFrames = (version & 0xFFFF) >= Opcodes.V1_6;
    this.name = name;
    this.parent = parent;
    super.visit(version, access, name, signature, parent, interfaces);
  }

  @Override
  public MethodVisitor visitMethod(
      int access, String method, String shape, String signature, String[] exceptions) {
    MethodVisitor next = super.visitMethod(access, method, shape, signature, exceptions);
    Integer variables = locals.get(method + shape);
    if (variables == null) {
      return next;
    }
    return method.equals("<clinit>")
        ? new Initializer(next)
        : new Method(next, access, method, shape, variables);
  }

  /** What it stores, every thread has seen that uses the class: it is left as it is. */
  private static final class Initializer extends MethodVisitor {
    Initializer(MethodVisitor next) {
      super(Rewriter.API, next);
    }

    @Override
    public void visitInsn(int instruction) {
      if (instruction == Opcodes.RETURN) {
        Bridge.callWeak(mv, "barrier");
      }
      super.visitInsn(instruction);
    }
  }

  private final class Method extends MethodVisitor {
    private final int access;
    private final int id;
    private final boolean elementsInOrder;

    /** Of a value to be stored, of the one that was there, and of an object. */
    private final int value;

    private final int old;
    private final int object;
    private final Set<Label> handlers = new HashSet<>();

    /** Of a constructor: whether its own object may be used like any other. */
    private boolean constructed;

    /** From here on, exceptions that leave the method are heard of. */
    private final Label start = new Label();

    private int fresh;
    private final EnteredMonitors monitors = new EnteredMonitors();

    Method(MethodVisitor next, int access, String method, String shape, int variables) {
      super(Rewriter.API, next);
      this.access = access;
      id = WeakCode.idOf(method, shape);
      constructed = !method.equals("<init>");
      value = variables;
      old = variables + 2;
      object = variables + 4;
      elementsInOrder = !inOrder.isAll() && inOrder.hasElements(name, method);
    }

    @Override
    public void visitCode() {
      super.visitCode();
      if ((access & Opcodes.ACC_SYNCHRONIZED) != 0) {
        Bridge.callWeak(mv, "acquire");
      } else {
        super.visitLdcInsn(id);
        Bridge.callWeak(mv, "enter");
      }
      if (constructed) {
        super.visitLabel(start);
      }
    }

    /**
     * A call that fails before the method is entered would leave its mark for whatever the JDK
     * calls next, where the program has no handler.
     */
    private void hearOfExceptions() {
      Label end = new Label();
      // The last in the table: the method's own come first.
      super.visitTryCatchBlock(start, end, end, null);
      super.visitLabel(end);
      if (hasFrames) {
        super.visitFrame(Opcodes.F_FULL, 0, new Object[0], 1, new Object[] {"java/lang/Throwable"});
      }
      Bridge.callWeak(mv, "acquire");
      super.visitInsn(Opcodes.ATHROW);
    }

    @Override
    public void visitMaxs(int stack, int variables) {
      monitors.addTo(mv);
      if (constructed) {
        hearOfExceptions();
      }
      // An array and an index twice, an object and its number, and two values of two words.
      super.visitMaxs(stack + 10, variables + 5);
    }

    @Override
    public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
      handlers.add(handler);
      monitors.visitTryCatchBlock(start, end, handler, type);
      super.visitTryCatchBlock(start, end, handler, type);
    }

    /** Whatever threw the exception may have synchronized before. */
    private boolean atHandler;

    @Override
    public void visitLabel(Label label) {
      super.visitLabel(label);
      monitors.visitLabel(label);
      atHandler |= handlers.contains(label);
    }

    /** The first instruction of a handler comes behind its frame. */
    private void beforeInstruction() {
      monitors.visitInstruction();
      if (atHandler) {
        atHandler = false;
        Bridge.callWeak(mv, "acquire");
      }
    }

    @Override
    public void visitFieldInsn(int instruction, String of, String field, String shape) {
      beforeInstruction();
      Hierarchy.Field found = hierarchy.declaring(loader, of, field, shape);
      boolean stores = instruction == Opcodes.PUTFIELD || instruction == Opcodes.PUTSTATIC;
      boolean isStatic = instruction == Opcodes.GETSTATIC || instruction == Opcodes.PUTSTATIC;
      boolean uninitialized = !constructed && stores && !isStatic;
      boolean isVolatile = (found.access() & Opcodes.ACC_VOLATILE) != 0;
      if (!found.known()) {
        super.visitFieldInsn(instruction, of, field, shape);
        // It may be volatile; and of what was stored here, the memory does not hear.
        Bridge.callWeak(mv, "acquire");
      } else if (uninitialized || !isVolatile && WeakCode.isOfTheJdk(found.owner())) {
        super.visitFieldInsn(instruction, of, field, shape);
      } else if ((found.access() & Opcodes.ACC_FINAL) != 0) {
        finalField(instruction, of, field, shape, stores || isStatic);
      } else {
        int number = numbers.of(found.owner(), field, shape);
        boolean named = !inOrder.isAll() && inOrder.hasField(loader, of, field, shape);
        Type type = Type.getType(shape);
        if (isVolatile) {
          super.visitFieldInsn(instruction, of, field, shape);
          if (!stores) {
            // Updaters and handles of the JDK may have stored it, of which nothing is heard.
            Bridge.callWeak(mv, "acquire");
          }
        } else if (named) {
          ordered(instruction, of, field, type, number);
        } else if (stores) {
          storeField(instruction, of, field, type, number, isStatic);
        } else {
          loadField(instruction, of, field, type, number, isStatic);
        }
      }
    }

    /** What it refers to was stored before the constructor ended, for whoever comes this way. */
    private void finalField(
        int instruction, String of, String field, String shape, boolean unseen) {
      boolean reaches = !unseen && WeakCode.showsMore(shape);
      if (reaches) {
        super.visitInsn(Opcodes.DUP);
        super.visitVarInsn(Opcodes.ASTORE, object);
      }
      super.visitFieldInsn(instruction, of, field, shape);
      if (reaches) {
        super.visitVarInsn(Opcodes.ALOAD, object);
        Bridge.callWeak(mv, "reach");
      }
    }

    /** As if it were volatile, for a field that is not. */
    private void ordered(int instruction, String of, String field, Type type, int number) {
      boolean isStatic = instruction == Opcodes.GETSTATIC || instruction == Opcodes.PUTSTATIC;
      if (instruction == Opcodes.GETFIELD || instruction == Opcodes.GETSTATIC) {
        if (!isStatic) {
          super.visitInsn(Opcodes.DUP);
          super.visitVarInsn(Opcodes.ASTORE, object);
        }
        super.visitFieldInsn(instruction, of, field, type.getDescriptor());
        Fence.ACQUIRE.into(mv);
        pushObject(isStatic);
        super.visitLdcInsn(number);
        Bridge.callWeak(mv, "acquireOf");
        return;
      }
      super.visitVarInsn(type.getOpcode(Opcodes.ISTORE), value);
      super.visitInsn(isStatic ? Opcodes.ACONST_NULL : Opcodes.DUP);
      super.visitLdcInsn(number);
      Bridge.callWeak(mv, "releaseOf");
      super.visitVarInsn(type.getOpcode(Opcodes.ILOAD), value);
      super.visitFieldInsn(instruction, of, field, type.getDescriptor());
      Fence.FULL.into(mv);
    }

    private void pushObject(boolean isStatic) {
      if (isStatic) {
        super.visitInsn(Opcodes.ACONST_NULL);
      } else {
        super.visitVarInsn(Opcodes.ALOAD, object);
      }
    }

    private void loadField(
        int instruction, String of, String field, Type type, int number, boolean isStatic) {
      if (!isStatic) {
        super.visitInsn(Opcodes.DUP);
        super.visitVarInsn(Opcodes.ASTORE, object);
      }
      super.visitFieldInsn(instruction, of, field, type.getDescriptor());
      super.visitVarInsn(type.getOpcode(Opcodes.ISTORE), value);
      pushObject(isStatic);
      super.visitLdcInsn(number);
      super.visitVarInsn(type.getOpcode(Opcodes.ILOAD), value);
      Bridge.callWeak(mv, "load" + WeakCode.kindOf(type));
      cast(type);
    }

    private void cast(Type type) {
      boolean isReference = type.getSort() >= Type.ARRAY;
      if (isReference && !type.getDescriptor().equals("Ljava/lang/Object;")) {
        super.visitTypeInsn(Opcodes.CHECKCAST, type.getInternalName());
      }
    }

    private void storeField(
        int instruction, String of, String field, Type type, int number, boolean isStatic) {
      super.visitVarInsn(type.getOpcode(Opcodes.ISTORE), value);
      Bridge.callWeak(mv, "storing");
      if (!isStatic) {
        super.visitInsn(Opcodes.DUP);
        super.visitInsn(Opcodes.DUP);
        super.visitVarInsn(Opcodes.ASTORE, object);
      }
      int load = isStatic ? Opcodes.GETSTATIC : Opcodes.GETFIELD;
      super.visitFieldInsn(load, of, field, type.getDescriptor());
      super.visitVarInsn(type.getOpcode(Opcodes.ISTORE), old);
      pushObject(isStatic);
      super.visitLdcInsn(number);
      super.visitVarInsn(type.getOpcode(Opcodes.ILOAD), old);
      super.visitVarInsn(type.getOpcode(Opcodes.ILOAD), value);
      Bridge.callWeak(mv, "store" + WeakCode.kindOf(type));
      super.visitVarInsn(type.getOpcode(Opcodes.ILOAD), value);
      super.visitFieldInsn(instruction, of, field, type.getDescriptor());
    }

    @Override
    public void visitInsn(int instruction) {
      beforeInstruction();
      boolean loads = instruction >= Opcodes.IALOAD && instruction <= Opcodes.SALOAD;
      boolean stores = instruction >= Opcodes.IASTORE && instruction <= Opcodes.SASTORE;
      boolean isReference = instruction == Opcodes.AALOAD || instruction == Opcodes.AASTORE;
      if (isReference) {
        elementOfReferences(instruction);
      } else if (loads || stores) {
        element(instruction, loads);
      } else {
        super.visitInsn(instruction);
        if (instruction == Opcodes.MONITORENTER) {
          monitors.enter(mv);
          Bridge.callWeak(mv, "acquire");
        }
      }
    }

    /** One that is in order releases and acquires through its array, index 0. */
    private void elementOfReferences(int instruction) {
      if (elementsInOrder && instruction == Opcodes.AASTORE) {
        super.visitVarInsn(Opcodes.ASTORE, value);
        super.visitInsn(Opcodes.DUP2);
        Bridge.callWeak(mv, "releaseOf");
        super.visitVarInsn(Opcodes.ALOAD, value);
        super.visitInsn(instruction);
        Fence.FULL.into(mv);
        return;
      }
      super.visitInsn(instruction);
      if (elementsInOrder) {
        Fence.ACQUIRE.into(mv);
        Bridge.callWeak(mv, "acquire");
      }
    }

    private void element(int instruction, boolean loads) {
      Type type = WeakCode.elementType(instruction);
      if (loads) {
        super.visitInsn(Opcodes.DUP2);
        super.visitInsn(instruction);
        if (elementsInOrder) {
          // The array and its index are still there.
          super.visitVarInsn(type.getOpcode(Opcodes.ISTORE), value);
          Fence.ACQUIRE.into(mv);
          Bridge.callWeak(mv, "acquireOf");
          super.visitVarInsn(type.getOpcode(Opcodes.ILOAD), value);
        } else {
          Bridge.callWeak(mv, "load" + WeakCode.kindOf(type));
        }
        return;
      }
      super.visitVarInsn(type.getOpcode(Opcodes.ISTORE), value);
      super.visitInsn(Opcodes.DUP2);
      if (elementsInOrder) {
        Bridge.callWeak(mv, "releaseOf");
      } else {
        Bridge.callWeak(mv, "storing");
        super.visitInsn(Opcodes.DUP2);
        super.visitInsn(instruction - Opcodes.IASTORE + Opcodes.IALOAD);
        super.visitVarInsn(type.getOpcode(Opcodes.ILOAD), value);
        Bridge.callWeak(mv, "store" + WeakCode.kindOf(type));
      }
      super.visitVarInsn(type.getOpcode(Opcodes.ILOAD), value);
      super.visitInsn(instruction);
      if (elementsInOrder) {
        Fence.FULL.into(mv);
      }
    }

    @Override
    public void visitMethodInsn(
        int instruction, String of, String called, String shape, boolean isInterface) {
      beforeInstruction();
      // A method that a class inherits from the JDK is the JDK's.
      boolean ofTheJdk = !hierarchy.declares(loader, of, called, shape);
      boolean constructs = instruction == Opcodes.INVOKESPECIAL && called.equals("<init>");
      if (!ofTheJdk) {
        super.visitLdcInsn(WeakCode.idOf(called, shape));
        Bridge.callWeak(mv, "calling");
      }
      super.visitMethodInsn(instruction, of, called, shape, isInterface);
      if (constructs) {
        if (fresh > 0) {
          fresh--;
        } else if (!constructed && (of.equals(name) || of.equals(parent))) {
          constructed = true;
          super.visitLabel(start);
        }
      }
      if (!ofTheJdk) {
        Bridge.callWeak(mv, "called");
      } else if (WeakCode.orders(of, called, shape)) {
        Bridge.callWeak(mv, "acquire");
      }
    }

    @Override
    public void visitTypeInsn(int instruction, String type) {
      beforeInstruction();
      if (instruction == Opcodes.NEW) {
        fresh++;
      }
      super.visitTypeInsn(instruction, type);
    }

    @Override
    public void visitInvokeDynamicInsn(
        String called, String shape, Handle bootstrap, Object... arguments) {
      beforeInstruction();
      super.visitInvokeDynamicInsn(called, shape, bootstrap, arguments);
      if (WeakCode.orders(bootstrap, shape)) {
        Bridge.callWeak(mv, "acquire");
      }
    }

    @Override
    public void visitIntInsn(int instruction, int operand) {
      beforeInstruction();
      super.visitIntInsn(instruction, operand);
    }

    @Override
    public void visitVarInsn(int instruction, int variable) {
      beforeInstruction();
      super.visitVarInsn(instruction, variable);
    }

    @Override
    public void visitJumpInsn(int instruction, Label label) {
      beforeInstruction();
      super.visitJumpInsn(instruction, label);
    }

    @Override
    public void visitLdcInsn(Object constant) {
      beforeInstruction();
      super.visitLdcInsn(constant);
      if (constant instanceof ConstantDynamic) {
        // Whichever thread comes first computes it, for all of them.
        Bridge.callWeak(mv, "acquire");
      }
    }

    @Override
    public void visitIincInsn(int variable, int increment) {
      beforeInstruction();
      super.visitIincInsn(variable, increment);
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
      beforeInstruction();
      super.visitTableSwitchInsn(min, max, otherwise, labels);
    }

    @Override
    public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
      beforeInstruction();
      super.visitLookupSwitchInsn(otherwise, keys, labels);
    }

    @Override
    public void visitMultiANewArrayInsn(String type, int dimensions) {
      beforeInstruction();
      super.visitMultiANewArrayInsn(type, dimensions);
    }
  }
}
