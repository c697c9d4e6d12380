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
import org.objectweb.asm.tree.analysis.Frame;
import org.objectweb.asm.tree.analysis.SourceInterpreter;
import org.objectweb.asm.tree.analysis.SourceValue;

/**
 * Looks for a way through a method on which the object of a store got out before it. First it finds
 * where each value comes from: its *sources*. A store is private if its object has one source, an
 * instruction that makes an array or the beginning of a constructor, and no use of that source
 * which could give the object away reaches the store without passing the source again.
 *
 * <p>With it the checkers read rewritten classes again. It shares nothing with {@link
 * PrivateStores}, which says where the rewriter leaves out full fences.
 */
final class EscapeSearch {
  /** Values that the code gets from elsewhere; they are in no list of instructions. */
  private static final AbstractInsnNode ELSEWHERE = new LabelNode();

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

  /** The sources of the objects of stores, by the stores' indices. */
  private final Map<Integer, Set<AbstractInsnNode>> objects = new HashMap<>();

  private final Map<AbstractInsnNode, BitSet> open = new IdentityHashMap<>();

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
    Frame<SourceValue>[] frames = new Analyzer<>(uses).analyze(owner, method);
    for (int i = 0; i < frames.length; i++) {
      if (frames[i] != null) {
        addObject(i, frames[i]);
      }
    }
  }

  /** Does the same in one go, where code only goes on: a tenth of the time. */
  private void goThrough() throws AnalyzerException {
    Map<AbstractInsnNode, Frame<SourceValue>> arriving = new IdentityHashMap<>();
    Frame<SourceValue> frame = atEntry();
    for (AbstractInsnNode instruction : code) {
      Frame<SourceValue> other = arriving.get(instruction);
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
        Frame<SourceValue> known = arriving.get(label);
        if (known == null) {
          arriving.put(label, new Frame<>(frame));
        } else {
          known.merge(frame, uses);
        }
      }
      frame = isEnd(instruction.getOpcode()) ? null : frame;
    }
  }

  private Frame<SourceValue> atEntry() {
    Frame<SourceValue> frame = new Frame<>(method.maxLocals, method.maxStack);
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

  private void addObject(int at, Frame<SourceValue> frame) {
    int code = this.code.get(at).getOpcode();
    if (code == Opcodes.PUTFIELD) {
      objects.put(at, frame.getStack(frame.getStackSize() - 2).insns);
    } else if (code >= Opcodes.IASTORE && code <= Opcodes.SASTORE) {
      objects.put(at, frame.getStack(frame.getStackSize() - 3).insns);
    }
  }

  /** Whether the store at an index goes to a private object. */
  boolean isPrivate(int store) {
    Set<AbstractInsnNode> sources = objects.getOrDefault(store, Set.of());
    if (sources.size() != 1) {
      return false;
    }
    AbstractInsnNode source = sources.iterator().next();
    if (!isMaker(source)) {
      return false;
    }
    boolean before = straight;
    for (AbstractInsnNode use : uses.givingAway(source)) {
      before &= code.indexOf(use) >= store;
    }
    if (!before && !open.containsKey(source)) {
      open.put(source, openBehind(source));
    }
    return before || !open.get(source).get(store);
  }

  private static boolean isMaker(AbstractInsnNode source) {
    return switch (source.getOpcode()) {
      case Opcodes.NEWARRAY, Opcodes.ANEWARRAY, Opcodes.MULTIANEWARRAY -> true;
      default -> source == UNDER_CONSTRUCTION;
    };
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

  /** Where values come from, and which instructions may give them away. */
  private static final class Uses extends SourceInterpreter {
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

    private void use(AbstractInsnNode instruction, SourceValue value) {
      if (isHarmless(instruction.getOpcode())) {
        return;
      }
      for (AbstractInsnNode source : value.insns) {
        if (isMaker(source)) {
          givingAway.putIfAbsent(source, new HashSet<>());
          givingAway.get(source).add(instruction);
        }
      }
    }

    @Override
    public SourceValue newValue(Type type) {
      if (type == Type.VOID_TYPE) {
        return null;
      }
      return new SourceValue(type == null ? 1 : type.getSize(), ELSEWHERE);
    }

    @Override
    public SourceValue newParameterValue(boolean isInstanceMethod, int local, Type type) {
      boolean isThis = isInstanceMethod && local == 0;
      return constructs && isThis ? new SourceValue(1, UNDER_CONSTRUCTION) : newValue(type);
    }

    @Override
    public SourceValue copyOperation(AbstractInsnNode instruction, SourceValue value) {
      return value;
    }

    @Override
    public SourceValue unaryOperation(AbstractInsnNode instruction, SourceValue value) {
      use(instruction, value);
      return instruction.getOpcode() == Opcodes.CHECKCAST
          ? value
          : super.unaryOperation(instruction, value);
    }

    /** The object of a store to its field is not what the store gives away. */
    @Override
    public SourceValue binaryOperation(
        AbstractInsnNode instruction, SourceValue one, SourceValue other) {
      if (instruction.getOpcode() != Opcodes.PUTFIELD) {
        use(instruction, one);
      }
      use(instruction, other);
      return super.binaryOperation(instruction, one, other);
    }

    @Override
    public SourceValue ternaryOperation(
        AbstractInsnNode instruction, SourceValue array, SourceValue index, SourceValue value) {
      use(instruction, value);
      return super.ternaryOperation(instruction, array, index, value);
    }

    @Override
    public SourceValue naryOperation(
        AbstractInsnNode instruction, List<? extends SourceValue> operands) {
      boolean harmless =
          instruction instanceof MethodInsnNode call
              && KEEPING_NOTHING.contains(call.owner + '.' + call.name);
      if (!harmless) {
        int first = isKept(instruction, operands) ? 1 : 0;
        for (SourceValue operand : operands.subList(first, operands.size())) {
          use(instruction, operand);
        }
      }
      return super.naryOperation(instruction, operands);
    }

    /** Whether another constructor gets the object under construction, and keeps it to itself. */
    private boolean isKept(AbstractInsnNode instruction, List<? extends SourceValue> operands) {
      return instruction instanceof MethodInsnNode call
          && call.name.equals("<init>")
          && operands.get(0).insns.equals(Set.of(UNDER_CONSTRUCTION))
          && facts.keeps(call.owner, call.desc);
    }

    @Override
    public void returnOperation(
        AbstractInsnNode instruction, SourceValue value, SourceValue expected) {
      use(instruction, value);
    }
  }
}
