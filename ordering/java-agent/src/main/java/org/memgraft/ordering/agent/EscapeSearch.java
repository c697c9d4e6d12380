package org.memgraft.ordering.agent;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.analysis.Analyzer;
import org.objectweb.asm.tree.analysis.AnalyzerException;
import org.objectweb.asm.tree.analysis.BasicInterpreter;
import org.objectweb.asm.tree.analysis.BasicValue;
import org.objectweb.asm.tree.analysis.Frame;

/**
 * Looks for a way through a method on which the object of a store got out before it. First it finds
 * where each object comes from: its *sources*. A store is private if its object has one source, an
 * instruction that makes an array or the beginning of a constructor, and no use of that source
 * which could give the object away reaches the store without passing the source again.
 *
 * <p>With it the checkers read rewritten classes again. It shares nothing with {@link
 * PrivateStores}, which says where the rewriter leaves out full fences.
 */
final class EscapeSearch {
  /** In the place of the instruction that makes it; it is in no list of instructions. */
  private static final AbstractInsnNode UNDER_CONSTRUCTION = new LabelNode();

  /** Methods that leave nobody a reference; the last one is what a rewriter adds. */
  private static final Set<String> KEEPING_NOTHING =
      Set.of(
          "java/lang/Object.<init>",
          "java/lang/System.arraycopy",
          "java/lang/MemgraftOrdering.touched");

  private final MethodNode method;
  private final InsnList code;
  private final Uses uses;
  private final boolean straight;
  private boolean complete;

  /** The objects of stores that the method made, by the stores' indices. */
  private final Map<Integer, Made> objects = new HashMap<>();

  private final Map<AbstractInsnNode, BitSet> open = new IdentityHashMap<>();

  /** What was found last to be a run of stores with a fence at its end. */
  private int runFrom;

  private int runTo;

  private EscapeSearch(MethodNode method, KnownClasses.Keeping facts) {
    this.method = method;
    code = method.instructions;
    uses = new Uses(method, facts);
    straight = isStraight(method);
  }

  /** Whether code only ever goes on, and never back. */
  private static boolean isStraight(MethodNode method) {
    Set<LabelNode> passed = new HashSet<>();
    for (AbstractInsnNode instruction : method.instructions) {
      if (instruction instanceof LabelNode label) {
        passed.add(label);
      }
      for (LabelNode label : labels(instruction)) {
        if (passed.contains(label)) {
          return false;
        }
      }
    }
    return method.tryCatchBlocks.isEmpty();
  }

  /**
   * Searches a method.
   *
   * @param owner the internal name of its class
   * @param facts says of other constructors whether they give the same object away
   */
  static EscapeSearch in(String owner, MethodNode method, KnownClasses.Keeping facts) {
    EscapeSearch search = new EscapeSearch(method, facts);
    try {
      if (search.straight) {
        search.goThrough();
      } else {
        search.analyze(owner);
      }
      search.complete = true;
    } catch (AnalyzerException | RuntimeException e) {
      // Nothing is known of such code.
      search.objects.clear();
    }
    return search;
  }

  /** Whether no use of the object that a constructor makes gives it away. */
  static boolean keeps(String owner, MethodNode constructor, KnownClasses.Keeping others) {
    EscapeSearch search = in(owner, constructor, others);
    return search.complete && search.uses.givingAway(UNDER_CONSTRUCTION).isEmpty();
  }

  private void analyze(String owner) throws AnalyzerException {
    Frame<BasicValue>[] frames = new Analyzer<>(uses).analyze(owner, method);
    for (int i = 0; i < frames.length; i++) {
      if (frames[i] != null) {
        addObject(i, frames[i]);
      }
    }
  }

  /** Does the same in one go, where code only goes on: a tenth of the time. */
  private void goThrough() throws AnalyzerException {
    Map<AbstractInsnNode, Frame<BasicValue>> arriving = new IdentityHashMap<>();
    Frame<BasicValue> frame = atEntry();
    for (AbstractInsnNode instruction : code) {
      Frame<BasicValue> other = arriving.get(instruction);
      if (frame == null) {
        frame = other;
      } else if (other != null) {
        frame.merge(other, uses);
      }
      if (frame == null || instruction.getOpcode() < 0) {
        continue;
      }
      addObject(code.indexOf(instruction), frame);
      frame.execute(instruction, uses);
      for (LabelNode label : labels(instruction)) {
        Frame<BasicValue> known = arriving.get(label);
        if (known == null) {
          arriving.put(label, new Frame<>(frame));
        } else {
          known.merge(frame, uses);
        }
      }
      frame = isEnd(instruction.getOpcode()) ? null : frame;
    }
  }

  private Frame<BasicValue> atEntry() {
    Frame<BasicValue> frame = new Frame<>(method.maxLocals, method.maxStack);
    for (int i = 0; i < method.maxLocals; i++) {
      frame.setLocal(i, uses.newValue(null));
    }
    int local = 0;
    if ((method.access & Opcodes.ACC_STATIC) == 0) {
      frame.setLocal(local++, uses.newParameterValue(true, 0, Type.getObjectType("this")));
    }
    for (Type parameter : Type.getArgumentTypes(method.desc)) {
      frame.setLocal(local, uses.newValue(parameter));
      local += parameter.getSize();
    }
    return frame;
  }

  private void addObject(int at, Frame<BasicValue> frame) {
    int code = this.code.get(at).getOpcode();
    boolean isElement = code >= Opcodes.IASTORE && code <= Opcodes.SASTORE;
    if (code != Opcodes.PUTFIELD && !isElement) {
      return;
    }
    BasicValue object = frame.getStack(frame.getStackSize() - (isElement ? 3 : 2));
    if (object instanceof Made made) {
      objects.put(at, made);
    }
  }

  /** Whether the store at an index goes to a private object. */
  boolean isPrivate(int store) {
    Made object = objects.get(store);
    if (object == null || object.orOther || object.by.size() != 1) {
      return false;
    }
    AbstractInsnNode source = object.by.iterator().next();
    boolean before = straight;
    for (AbstractInsnNode use : uses.givingAway(source)) {
      before &= code.indexOf(use) >= store;
    }
    if (!before && !open.containsKey(source)) {
      open.put(source, openBehind(source));
    }
    return before || !open.get(source).get(store);
  }

  /**
   * Whether nothing follows the store of an element but what fills private arrays, up to a fence. A
   * handler could publish the array before that.
   */
  boolean isFencedLater(int store) {
    if (!method.tryCatchBlocks.isEmpty() || !isElementStore(store)) {
      return false;
    }
    if (runFrom <= store && store < runTo) {
      return true;
    }
    for (int i = store + 1; i < code.size(); i++) {
      AbstractInsnNode next = code.get(i);
      boolean fills = isElementStore(i) ? isPrivate(i) : isOfList(next.getOpcode());
      if (!fills) {
        boolean fenced = isElementStore(i - 1) && isFence(next);
        runFrom = fenced ? store : runFrom;
        runTo = fenced ? i : runTo;
        return fenced;
      }
    }
    return false;
  }

  private boolean isElementStore(int at) {
    int code = this.code.get(at).getOpcode();
    return code >= Opcodes.IASTORE && code <= Opcodes.SASTORE;
  }

  /** What code has between the elements that it lists. */
  private static boolean isOfList(int code) {
    return switch (code) {
      case -1, Opcodes.LDC, Opcodes.BIPUSH, Opcodes.SIPUSH -> true;
      case Opcodes.NEWARRAY, Opcodes.ANEWARRAY -> true;
      case Opcodes.ILOAD, Opcodes.LLOAD, Opcodes.FLOAD, Opcodes.DLOAD, Opcodes.ALOAD -> true;
      default ->
          code >= Opcodes.NOP && code <= Opcodes.DCONST_1
              || code >= Opcodes.POP && code <= Opcodes.SWAP;
    };
  }

  private static boolean isFence(AbstractInsnNode instruction) {
    return instruction instanceof MethodInsnNode call
        && call.owner.equals("java/lang/invoke/VarHandle")
        && (call.name.equals("releaseFence") || call.name.equals("fullFence"));
  }

  /** What code can come to after its object may have got out, and before it makes another. */
  private BitSet openBehind(AbstractInsnNode source) {
    BitSet seen = new BitSet();
    Deque<Integer> left = new ArrayDeque<>();
    for (AbstractInsnNode use : uses.givingAway(source)) {
      addFollowing(code.indexOf(use), left);
    }
    while (!left.isEmpty()) {
      int at = left.pop();
      if (!seen.get(at) && code.get(at) != source) {
        seen.set(at);
        addFollowing(at, left);
      }
    }
    return seen;
  }

  private void addFollowing(int at, Deque<Integer> to) {
    AbstractInsnNode instruction = code.get(at);
    if (!isEnd(instruction.getOpcode())) {
      to.push(at + 1);
    }
    for (LabelNode label : labels(instruction)) {
      to.push(code.indexOf(label));
    }
    for (TryCatchBlockNode block : method.tryCatchBlocks) {
      if (code.indexOf(block.start) <= at && at < code.indexOf(block.end)) {
        to.push(code.indexOf(block.handler));
      }
    }
  }

  private static boolean isEnd(int code) {
    return switch (code) {
      case Opcodes.GOTO, Opcodes.TABLESWITCH, Opcodes.LOOKUPSWITCH, Opcodes.ATHROW -> true;
      default -> code >= Opcodes.IRETURN && code <= Opcodes.RETURN;
    };
  }

  /** Where an instruction may jump to. */
  private static List<LabelNode> labels(AbstractInsnNode instruction) {
    if (instruction instanceof JumpInsnNode jump) {
      return List.of(jump.label);
    }
    if (instruction instanceof TableSwitchInsnNode table) {
      return with(table.dflt, table.labels);
    }
    return instruction instanceof LookupSwitchInsnNode table
        ? with(table.dflt, table.labels)
        : List.of();
  }

  private static List<LabelNode> with(LabelNode otherwise, List<LabelNode> labels) {
    List<LabelNode> all = new ArrayList<>(labels);
    all.add(otherwise);
    return all;
  }

  /** Objects that the method makes: of a type of their own, so that no other value equals them. */
  private static final class Made extends BasicValue {
    private static final Type TYPE = Type.getObjectType("made here");

    private final Set<AbstractInsnNode> by;
    private final boolean orOther;

    /**
     * Made by one of some instructions.
     *
     * @param orOther whether it may be another object
     */
    Made(Set<AbstractInsnNode> by, boolean orOther) {
      super(TYPE);
      this.by = by;
      this.orOther = orOther;
    }

    @Override
    public boolean equals(Object value) {
      return value instanceof Made other && by.equals(other.by) && orOther == other.orOther;
    }

    @Override
    public int hashCode() {
      return by.hashCode();
    }
  }

  /** Where the objects come from that a method makes, and which instructions may give them away. */
  private static final class Uses extends BasicInterpreter {
    private final boolean constructs;
    private final KnownClasses.Keeping facts;

    /** By source. */
    private final Map<AbstractInsnNode, Set<AbstractInsnNode>> givingAway = new IdentityHashMap<>();

    Uses(MethodNode method, KnownClasses.Keeping facts) {
      super(Rewriter.API);
      constructs = method.name.equals("<init>");
      this.facts = facts;
    }

    Set<AbstractInsnNode> givingAway(AbstractInsnNode source) {
      return givingAway.getOrDefault(source, Set.of());
    }

    /** Whether an instruction gives no operand to anybody. */
    private static boolean isHarmless(int code) {
      return switch (code) {
        case Opcodes.GETFIELD,
            Opcodes.ARRAYLENGTH,
            Opcodes.CHECKCAST,
            Opcodes.INSTANCEOF,
            Opcodes.IFNULL,
            Opcodes.IFNONNULL,
            Opcodes.IF_ACMPEQ,
            Opcodes.IF_ACMPNE ->
            true;
        default -> code >= Opcodes.IALOAD && code <= Opcodes.SALOAD;
      };
    }

    private void use(AbstractInsnNode instruction, BasicValue value) {
      if (value instanceof Made made && !isHarmless(instruction.getOpcode())) {
        for (AbstractInsnNode source : made.by) {
          givingAway.putIfAbsent(source, new HashSet<>());
          givingAway.get(source).add(instruction);
        }
      }
    }

    private static BasicValue madeBy(AbstractInsnNode source) {
      return new Made(Set.of(source), false);
    }

    @Override
    public BasicValue newParameterValue(boolean isInstanceMethod, int local, Type type) {
      boolean isThis = isInstanceMethod && local == 0;
      return constructs && isThis ? madeBy(UNDER_CONSTRUCTION) : newValue(type);
    }

    @Override
    public BasicValue unaryOperation(AbstractInsnNode instruction, BasicValue value)
        throws AnalyzerException {
      use(instruction, value);
      return switch (instruction.getOpcode()) {
        case Opcodes.CHECKCAST -> value;
        case Opcodes.NEWARRAY, Opcodes.ANEWARRAY -> madeBy(instruction);
        default -> super.unaryOperation(instruction, value);
      };
    }

    /** The object of a store to its field is not what the store gives away. */
    @Override
    public BasicValue binaryOperation(
        AbstractInsnNode instruction, BasicValue one, BasicValue other) throws AnalyzerException {
      if (instruction.getOpcode() != Opcodes.PUTFIELD) {
        use(instruction, one);
      }
      use(instruction, other);
      return super.binaryOperation(instruction, one, other);
    }

    @Override
    public BasicValue ternaryOperation(
        AbstractInsnNode instruction, BasicValue array, BasicValue index, BasicValue value)
        throws AnalyzerException {
      use(instruction, value);
      return super.ternaryOperation(instruction, array, index, value);
    }

    @Override
    public BasicValue naryOperation(
        AbstractInsnNode instruction, List<? extends BasicValue> operands)
        throws AnalyzerException {
      if (instruction.getOpcode() == Opcodes.MULTIANEWARRAY) {
        return madeBy(instruction);
      }
      boolean harmless =
          instruction instanceof MethodInsnNode call
              && KEEPING_NOTHING.contains(call.owner + '.' + call.name);
      if (!harmless) {
        int first = isKept(instruction, operands) ? 1 : 0;
        for (BasicValue operand : operands.subList(first, operands.size())) {
          use(instruction, operand);
        }
      }
      return super.naryOperation(instruction, operands);
    }

    /** Whether another constructor gets the object under construction, and keeps it to itself. */
    private boolean isKept(AbstractInsnNode instruction, List<? extends BasicValue> operands) {
      return instruction instanceof MethodInsnNode call
          && call.name.equals("<init>")
          && operands.get(0).equals(madeBy(UNDER_CONSTRUCTION))
          && facts.keeps(call.owner, call.desc);
    }

    @Override
    public void returnOperation(
        AbstractInsnNode instruction, BasicValue value, BasicValue expected) {
      use(instruction, value);
    }

    @Override
    public BasicValue merge(BasicValue one, BasicValue other) {
      if (one.equals(other)) {
        return one;
      }
      boolean both = one instanceof Made && other instanceof Made;
      Set<AbstractInsnNode> by = new HashSet<>();
      boolean orOther = !both;
      for (BasicValue value : List.of(one, other)) {
        if (value instanceof Made made) {
          by.addAll(made.by);
          orOther |= made.orOther;
        }
      }
      return by.isEmpty() ? super.merge(one, other) : new Made(by, orOther);
    }
  }
}
