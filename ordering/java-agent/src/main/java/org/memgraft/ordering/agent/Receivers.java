package org.memgraft.ordering.agent;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;
import org.objectweb.asm.tree.analysis.Analyzer;
import org.objectweb.asm.tree.analysis.AnalyzerException;
import org.objectweb.asm.tree.analysis.BasicInterpreter;
import org.objectweb.asm.tree.analysis.BasicValue;
import org.objectweb.asm.tree.analysis.Frame;

/** Whose fields each method of a class accesses: those of `this`, or of some other object. */
final class Receivers {
  /**
   * A load or store of an object's field.
   *
   * @param of the class by which the instruction names the field
   * @param ofThis whether the object is `this`, whatever way the code takes
   */
  record Access(String of, String name, String shape, boolean ofThis) {}

  /** What no other value of the analysis equals. */
  private static final BasicValue THIS = new BasicValue(Type.getObjectType("this"));

  private final Map<String, List<Access>> methods = new HashMap<>();

  private Receivers() {}

  /** With `analyzed` false, every object counts as some other. */
  static Receivers of(ClassReader reader, boolean analyzed) {
    ClassNode read = new ClassNode(Rewriter.API);
    reader.accept(read, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    Receivers receivers = new Receivers();
    for (MethodNode method : read.methods) {
      receivers.methods.put(method.name + method.desc, accesses(read.name, method, analyzed));
    }
    return receivers;
  }

  /** The accesses of a method in their order. */
  List<Access> in(String method, String shape) {
    return methods.getOrDefault(method + shape, List.of());
  }

  private static List<Access> accesses(String owner, MethodNode method, boolean analyzed) {
    List<Access> accesses = new ArrayList<>();
    Frame<BasicValue>[] frames = null;
    boolean left = analyzed;
    for (int i = 0; i < method.instructions.size(); i++) {
      AbstractInsnNode instruction = method.instructions.get(i);
      boolean loads = instruction.getOpcode() == Opcodes.GETFIELD;
      if (!loads && instruction.getOpcode() != Opcodes.PUTFIELD) {
        continue;
      }
      if (left) {
        left = false;
        frames = frames(owner, method);
      }
      FieldInsnNode access = (FieldInsnNode) instruction;
      boolean ofThis = frames != null && isThis(frames[i], loads);
      accesses.add(new Access(access.owner, access.name, access.desc, ofThis));
    }
    return accesses;
  }

  /** Null: every object counts as another. */
  private static Frame<BasicValue>[] frames(String owner, MethodNode method) {
    if ((method.access & Opcodes.ACC_STATIC) != 0 || setsThis(method)) {
      return null;
    }
    try {
      return new Analyzer<>(new WithThis()).analyze(owner, method);
    } catch (AnalyzerException | RuntimeException e) {
      return null;
    }
  }

  private static boolean setsThis(MethodNode method) {
    for (AbstractInsnNode instruction : method.instructions) {
      if (instruction.getOpcode() == Opcodes.ASTORE && ((VarInsnNode) instruction).var == 0) {
        return true;
      }
    }
    return false;
  }

  private static boolean isThis(Frame<BasicValue> frame, boolean loads) {
    // Code that is never reached has no frame.
    return frame != null && THIS.equals(frame.getStack(frame.getStackSize() - (loads ? 1 : 2)));
  }

  private static final class WithThis extends BasicInterpreter {
    WithThis() {
      super(Rewriter.API);
    }

    @Override
    public BasicValue newParameterValue(boolean isInstanceMethod, int local, Type type) {
      return isInstanceMethod && local == 0
          ? THIS
          : super.newParameterValue(isInstanceMethod, local, type);
    }

    /** It stays `this` only where it is plain to see, for {@link SpeculationChecker} too. */
    @Override
    public BasicValue copyOperation(AbstractInsnNode instruction, BasicValue value)
        throws AnalyzerException {
      boolean plain =
          instruction.getOpcode() == Opcodes.DUP
              || instruction instanceof VarInsnNode variable && variable.var == 0;
      return THIS.equals(value) && !plain ? BasicValue.REFERENCE_VALUE : value;
    }
  }
}
