package org.memgraft.ordering.agent;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.analysis.Analyzer;
import org.objectweb.asm.tree.analysis.AnalyzerException;
import org.objectweb.asm.tree.analysis.BasicInterpreter;
import org.objectweb.asm.tree.analysis.BasicValue;
import org.objectweb.asm.tree.analysis.Frame;
import org.objectweb.asm.tree.analysis.Interpreter;

/**
 * Which stores of a method go to *private* objects: arrays that the method made, and the object
 * that a constructor is making, as long as nobody else can have got a reference to them.
 *
 * <p>It follows, for each place that makes an array, the one that was made there last. Where a
 * variable may have it or another object, it counts as any other from there on; and so do all that
 * this place makes, because what the variable has may be the one of a loop's turn before.
 */
final class PrivateStores {
  /**
   * In instructions, labels included. Where code goes back, it takes long to find out and to check:
   * a fifth of a second for a single method of the JDK while a JVM started.
   */
  private static final int LARGE = 400;

  private PrivateStores() {}

  /**
   * Of all stores to fields of objects and to elements, in their order, those to private objects.
   *
   * @param owner the internal name of the class
   * @param facts says of other constructors whether they give the same object away
   */
  static BitSet of(String owner, MethodNode method, KnownClasses.Keeping facts) {
    BitSet found = new BitSet();
    if (!mayHaveSome(method)) {
      return found;
    }
    References references = new References(method, facts);
    List<BasicValue> receivers = receivers(owner, method, references);
    for (int i = 0; i < receivers.size(); i++) {
      BasicValue receiver = receivers.get(i);
      found.set(i, isPrivate(receiver) && !references.mixed.contains(receiver));
    }
    return found;
  }

  /** Whether a constructor leaves nobody a reference to the object that it makes. */
  static boolean keeps(String owner, MethodNode constructor, KnownClasses.Keeping others) {
    // A handler forgets what it had.
    if (!constructor.tryCatchBlocks.isEmpty() || hasSubroutines(constructor)) {
      return false;
    }
    References references = new References(constructor, others);
    receivers(owner, constructor, references);
    return references.complete
        && !references.given.contains(Private.THIS)
        && !references.mixed.contains(Private.THIS);
  }

  /** The objects of the stores; none where it takes too long to find out. */
  private static List<BasicValue> receivers(
      String owner, MethodNode method, References references) {
    boolean goesOn = goesOn(method);
    if (!goesOn && method.instructions.size() > LARGE) {
      return List.of();
    }
    try {
      List<BasicValue> receivers =
          goesOn ? following(method, references) : tracing(owner, method, references);
      references.complete = true;
      return receivers;
    } catch (AnalyzerException | RuntimeException e) {
      // Whatever is wrong with the code, the JVM will say so.
      return List.of();
    }
  }

  /** Whether code only ever goes on, and never back. */
  private static boolean goesOn(MethodNode method) {
    Set<LabelNode> passed = new HashSet<>();
    for (AbstractInsnNode instruction : method.instructions) {
      if (instruction instanceof LabelNode label) {
        passed.add(label);
      }
      for (LabelNode target : targets(instruction)) {
        if (passed.contains(target)) {
          return false;
        }
      }
    }
    return method.tryCatchBlocks.isEmpty();
  }

  /** Where else than to the next instruction it may lead. */
  private static List<LabelNode> targets(AbstractInsnNode instruction) {
    if (instruction instanceof JumpInsnNode jump) {
      return List.of(jump.label);
    }
    List<LabelNode> targets = List.of();
    LabelNode otherwise = null;
    if (instruction instanceof TableSwitchInsnNode table) {
      targets = table.labels;
      otherwise = table.dflt;
    } else if (instruction instanceof LookupSwitchInsnNode table) {
      targets = table.labels;
      otherwise = table.dflt;
    }
    if (otherwise != null) {
      targets = new ArrayList<>(targets);
      targets.add(otherwise);
    }
    return targets;
  }

  /**
   * The objects of the stores, where code only goes on; null in code that is never reached. Most
   * code is like that, and needs no frame for each instruction, as ASM's analyzer keeps.
   */
  private static List<BasicValue> following(MethodNode method, References references)
      throws AnalyzerException {
    List<BasicValue> receivers = new ArrayList<>();
    Map<AbstractInsnNode, State> jumping = new IdentityHashMap<>();
    State state = State.atEntry(method, references);
    for (AbstractInsnNode instruction : method.instructions) {
      int code = instruction.getOpcode();
      State others = jumping.get(instruction);
      if (state != null && others != null) {
        state.merge(others, references);
      } else if (others != null) {
        state = others;
      }
      if (isStore(code)) {
        receivers.add(state == null ? null : receiver(state, code));
      }
      if (state == null || code < 0) {
        continue;
      }
      state.execute(instruction, references);
      for (LabelNode target : targets(instruction)) {
        if (jumping.containsKey(target)) {
          jumping.get(target).merge(state, references);
        } else {
          jumping.put(target, new State(state));
        }
      }
      boolean ends =
          code == Opcodes.GOTO
              || code == Opcodes.TABLESWITCH
              || code == Opcodes.LOOKUPSWITCH
              || code == Opcodes.ATHROW
              || code >= Opcodes.IRETURN && code <= Opcodes.RETURN;
      state = ends ? null : state;
    }
    return receivers;
  }

  private static List<BasicValue> tracing(String owner, MethodNode method, References references)
      throws AnalyzerException {
    List<BasicValue> receivers = new ArrayList<>();
    Frame<BasicValue>[] frames = new Tracing(references).analyze(owner, method);
    for (int i = 0; i < frames.length; i++) {
      int code = method.instructions.get(i).getOpcode();
      if (isStore(code)) {
        receivers.add(frames[i] == null ? null : receiver(frames[i], code));
      }
    }
    return receivers;
  }

  /** A store to a field of an object, or to an element of an array. */
  static boolean isStore(int code) {
    return code == Opcodes.PUTFIELD || code >= Opcodes.IASTORE && code <= Opcodes.SASTORE;
  }

  private static boolean mayHaveSome(MethodNode method) {
    boolean constructs = method.name.equals("<init>");
    boolean makes = constructs;
    boolean stores = false;
    for (AbstractInsnNode instruction : method.instructions) {
      int code = instruction.getOpcode();
      makes |= makesArray(code);
      stores |= isStore(code) && (constructs || code != Opcodes.PUTFIELD);
    }
    return makes && stores && !hasSubroutines(method);
  }

  /** Their frames merge otherwise. Only old class files have them. */
  private static boolean hasSubroutines(MethodNode method) {
    for (AbstractInsnNode instruction : method.instructions) {
      if (instruction.getOpcode() == Opcodes.JSR || instruction.getOpcode() == Opcodes.RET) {
        return true;
      }
    }
    return false;
  }

  private static boolean makesArray(int code) {
    return code == Opcodes.NEWARRAY || code == Opcodes.ANEWARRAY || code == Opcodes.MULTIANEWARRAY;
  }

  private static BasicValue receiver(Frame<BasicValue> frame, int store) {
    return frame.getStack(frame.getStackSize() - (store == Opcodes.PUTFIELD ? 2 : 3));
  }

  /**
   * The object that a place in the code made last: of a type of its own, so that none equals it.
   */
  private static final class Private extends BasicValue {
    static final Private THIS = new Private(-1);

    Private(int place) {
      super(Type.getObjectType("a private object of " + place));
    }
  }

  private static boolean isPrivate(BasicValue value) {
    return value instanceof Private;
  }

  private static final class References extends BasicInterpreter {
    private final boolean constructs;
    private final InsnList code;
    private final KnownClasses.Keeping facts;
    private final Map<AbstractInsnNode, Private> made = new IdentityHashMap<>();

    /** Which somewhere cannot be told from others. */
    private final Set<BasicValue> mixed = new HashSet<>();

    /** Which others may have at the end. */
    private final Set<BasicValue> given = new HashSet<>();

    /** Whether all of the code was gone through. */
    private boolean complete;

    References(MethodNode method, KnownClasses.Keeping facts) {
      super(Rewriter.API);
      constructs = method.name.equals("<init>");
      code = method.instructions;
      this.facts = facts;
    }

    /** Whether an instruction calls another constructor for the same object, which keeps it. */
    boolean isKept(AbstractInsnNode instruction, BasicValue object) {
      return object == Private.THIS
          && instruction instanceof MethodInsnNode call
          && call.name.equals("<init>")
          && facts.keeps(call.owner, call.desc);
    }

    BasicValue madeBy(AbstractInsnNode instruction) {
      Private known = made.get(instruction);
      if (known == null) {
        known = new Private(code.indexOf(instruction));
        made.put(instruction, known);
      }
      return known;
    }

    @Override
    public BasicValue newParameterValue(boolean isInstanceMethod, int local, Type type) {
      return constructs && local == 0
          ? Private.THIS
          : super.newParameterValue(isInstanceMethod, local, type);
    }

    @Override
    public BasicValue unaryOperation(AbstractInsnNode instruction, BasicValue value)
        throws AnalyzerException {
      if (instruction.getOpcode() == Opcodes.CHECKCAST && isPrivate(value)) {
        return value;
      }
      return makesArray(instruction.getOpcode())
          ? madeBy(instruction)
          : super.unaryOperation(instruction, value);
    }

    @Override
    public BasicValue naryOperation(
        AbstractInsnNode instruction, List<? extends BasicValue> operands)
        throws AnalyzerException {
      return makesArray(instruction.getOpcode())
          ? madeBy(instruction)
          : super.naryOperation(instruction, operands);
    }

    /** What is no reference on one way can be none afterwards. */
    @Override
    public BasicValue merge(BasicValue one, BasicValue other) {
      if (one.equals(other)) {
        return one;
      }
      boolean references = one.isReference() && other.isReference();
      return references ? BasicValue.REFERENCE_VALUE : BasicValue.UNINITIALIZED_VALUE;
    }
  }

  private static final class Tracing extends Analyzer<BasicValue> {
    Tracing(References references) {
      super(references);
    }

    @Override
    protected Frame<BasicValue> newFrame(int locals, int stack) {
      return new State(locals, stack);
    }

    @Override
    protected Frame<BasicValue> newFrame(Frame<? extends BasicValue> frame) {
      return new State(frame);
    }
  }

  /** Which variables have which private objects, at one instruction. */
  private static final class State extends Frame<BasicValue> {
    State(int locals, int stack) {
      super(locals, stack);
    }

    State(Frame<? extends BasicValue> frame) {
      super(frame);
    }

    static State atEntry(MethodNode method, References references) {
      State state = new State(method.maxLocals, method.maxStack);
      for (int i = 0; i < method.maxLocals; i++) {
        state.setLocal(i, BasicValue.UNINITIALIZED_VALUE);
      }
      int local = 0;
      boolean ofObjects = (method.access & Opcodes.ACC_STATIC) == 0;
      if (ofObjects) {
        state.setLocal(local++, references.newParameterValue(true, 0, Type.getObjectType("this")));
      }
      for (Type parameter : Type.getArgumentTypes(method.desc)) {
        state.setLocal(local, references.newParameterValue(ofObjects, local, parameter));
        local += parameter.getSize();
      }
      return state;
    }

    @Override
    public void execute(AbstractInsnNode instruction, Interpreter<BasicValue> references)
        throws AnalyzerException {
      References its = (References) references;
      if (makesArray(instruction.getOpcode())) {
        // The one that it made the last time is another.
        forget(its.madeBy(instruction));
      }
      int given = givenAway(instruction);
      for (int i = 1; i <= given; i++) {
        BasicValue object = getStack(getStackSize() - i);
        boolean isReceiver = i == given;
        if (isPrivate(object) && !(isReceiver && its.isKept(instruction, object))) {
          its.given.add(object);
          forget(object);
        }
      }
      super.execute(instruction, references);
    }

    /** How many of the topmost values on the stack others may have after an instruction. */
    private static int givenAway(AbstractInsnNode instruction) {
      int code = instruction.getOpcode();
      return switch (code) {
        case Opcodes.PUTFIELD,
            Opcodes.PUTSTATIC,
            Opcodes.AASTORE,
            Opcodes.ATHROW,
            Opcodes.MONITORENTER,
            Opcodes.MONITOREXIT ->
            1;
        case Opcodes.INVOKEDYNAMIC ->
            Type.getArgumentCount(((InvokeDynamicInsnNode) instruction).desc);
        case Opcodes.INVOKEVIRTUAL,
            Opcodes.INVOKESPECIAL,
            Opcodes.INVOKESTATIC,
            Opcodes.INVOKEINTERFACE -> {
          MethodInsnNode call = (MethodInsnNode) instruction;
          int receivers = code == Opcodes.INVOKESTATIC ? 0 : 1;
          yield keepsNothing(call) ? 0 : receivers + Type.getArgumentCount(call.desc);
        }
        default -> 0;
      };
    }

    private static boolean keepsNothing(MethodInsnNode call) {
      return call.owner.equals("java/lang/Object") && call.name.equals("<init>")
          || call.owner.equals("java/lang/System") && call.name.equals("arraycopy");
    }

    /** From here on it counts as any other; says whether a variable had it. */
    private boolean forget(BasicValue object) {
      boolean had = false;
      for (int i = 0; isPrivate(object) && i < getLocals(); i++) {
        if (getLocal(i).equals(object)) {
          setLocal(i, BasicValue.REFERENCE_VALUE);
          had = true;
        }
      }
      for (int i = 0; isPrivate(object) && i < getStackSize(); i++) {
        if (getStack(i).equals(object)) {
          setStack(i, BasicValue.REFERENCE_VALUE);
          had = true;
        }
      }
      return had;
    }

    /**
     * Only frames of handlers are cleared. What was thrown there may have been given away before.
     */
    @Override
    public void clearStack() {
      for (int i = 0; i < getLocals(); i++) {
        forget(getLocal(i));
      }
      super.clearStack();
    }

    @Override
    public boolean merge(Frame<? extends BasicValue> other, Interpreter<BasicValue> references)
        throws AnalyzerException {
      Set<BasicValue> lost = new HashSet<>(0);
      for (int i = 0; i < getLocals(); i++) {
        addLost(lost, getLocal(i), other.getLocal(i));
      }
      int both = Math.min(getStackSize(), other.getStackSize());
      for (int i = 0; i < both; i++) {
        addLost(lost, getStack(i), other.getStack(i));
      }
      boolean changed = super.merge(other, references);
      for (BasicValue object : lost) {
        ((References) references).mixed.add(object);
        changed |= forget(object);
      }
      return changed;
    }

    /** References that a variable may have, or not, from here on. */
    private static void addLost(Set<BasicValue> lost, BasicValue one, BasicValue other) {
      boolean either = isPrivate(one) || isPrivate(other);
      if (either && one != other && one.isReference() && other.isReference()) {
        lost.add(one);
        lost.add(other);
      }
    }
  }
}
