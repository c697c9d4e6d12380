package org.memgraft.ordering.agent;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;
import org.objectweb.asm.tree.analysis.Analyzer;
import org.objectweb.asm.tree.analysis.AnalyzerException;
import org.objectweb.asm.tree.analysis.Frame;
import org.objectweb.asm.tree.analysis.SourceInterpreter;
import org.objectweb.asm.tree.analysis.SourceValue;

/**
 * Reads a rewritten class and finds the accesses that have neither a fence nor both a check and a
 * guard. It shares nothing with {@link SpeculativeFences}, which puts them there. Where an access
 * has a fence, it is not asked whether its field is speculated on.
 */
final class SpeculationChecker {
  private static final String VAR_HANDLE = "java/lang/invoke/VarHandle";
  private static final String HOLDER = "java/lang/MemgraftOrdering$";
  private static final String OWNER = "$memgraft$owner$";

  private final ClassNode read = new ClassNode(Rewriter.API);
  private final Machine machine;
  private final KnownClasses.Facts facts;
  private final Set<String> finals = new HashSet<>();
  private final Set<String> volatiles = new HashSet<>();
  private final Map<MethodNode, EscapeSearch> searches = new IdentityHashMap<>();
  private final List<String> found = new ArrayList<>();

  /** The method that was asked about last, and where its values come from. */
  private MethodNode traced;

  private Frame<SourceValue>[] sources;

  private SpeculationChecker(Machine machine, KnownClasses.Facts facts) {
    this.machine = machine;
    this.facts = facts;
  }

  /**
   * The methods with such an access, as "Class.method", once for each access.
   *
   * @param facts what the class may trust in
   */
  static List<String> unordered(byte[] rewritten, Machine machine, KnownClasses.Facts facts) {
    SpeculationChecker checker = new SpeculationChecker(machine, facts);
    new ClassReader(rewritten)
        .accept(checker.read, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    checker.check();
    return checker.found;
  }

  private void check() {
    for (FieldNode field : read.fields) {
      if ((field.access & Opcodes.ACC_FINAL) != 0) {
        finals.add(field.name + ' ' + field.desc);
      }
      if ((field.access & Opcodes.ACC_VOLATILE) != 0) {
        volatiles.add(field.name + ' ' + field.desc);
      }
    }
    for (MethodNode method : read.methods) {
      removeChanging(method);
    }
    boolean isFence = read.name.equals(VAR_HANDLE);
    for (MethodNode method : read.methods) {
      if (!isFence || !method.name.endsWith("Fence")) {
        check(method);
      }
    }
  }

  /** Old class files may store final fields in any method. */
  private void removeChanging(MethodNode method) {
    for (AbstractInsnNode instruction : method.instructions) {
      int code = instruction.getOpcode();
      if (!method.name.startsWith("<")
          && (code == Opcodes.PUTFIELD || code == Opcodes.PUTSTATIC)
          && instruction instanceof FieldInsnNode store
          && store.owner.equals(read.name)) {
        finals.remove(store.name + ' ' + store.desc);
      }
    }
  }

  private void check(MethodNode method) {
    for (int i = 0; i < method.instructions.size(); i++) {
      AbstractInsnNode instruction = method.instructions.get(i);
      int code = instruction.getOpcode();
      boolean element =
          code >= Opcodes.IALOAD && code <= Opcodes.SALOAD
              || code >= Opcodes.IASTORE && code <= Opcodes.SASTORE;
      boolean ordered =
          instruction instanceof FieldInsnNode access
              ? isOrdered(method, i, access)
              : !element
                  || isFenced(instruction, code <= Opcodes.SALOAD)
                  || code >= Opcodes.IASTORE && (isPrivate(method, i) || isOfRun(method, i));
      if (!ordered) {
        found.add(read.name.replace('/', '.') + '.' + method.name);
      }
    }
  }

  private boolean isOrdered(MethodNode method, int at, FieldInsnNode access) {
    int code = access.getOpcode();
    boolean loads = code == Opcodes.GETFIELD || code == Opcodes.GETSTATIC;
    String field = access.name + ' ' + access.desc;
    boolean own = access.owner.equals(read.name);
    boolean constructs = method.name.equals("<init>");
    boolean excused =
        access.name.startsWith(OWNER)
            || !own && loads && facts.isFinal(access.owner, access.name, access.desc)
            || own && finals.contains(field) && (loads || constructs && code == Opcodes.PUTFIELD)
            || own && volatiles.contains(field) && (loads || machine.fencesVolatileStores());
    if (excused || isFenced(access, loads) || !loads && isPrivate(method, at)) {
      return true;
    }
    return following(access) instanceof MethodInsnNode guard
        && guard.owner.startsWith(HOLDER)
        && (guard.name.equals(loads ? "load" : "store")
            || !loads && guard.name.equals("privateStore") && keepsPrivate(method, at))
        && isChecked(method, at, loads, guard.owner);
  }

  private static boolean isFenced(AbstractInsnNode access, boolean loads) {
    return following(access) instanceof MethodInsnNode call
        && call.owner.equals(VAR_HANDLE)
        && (call.name.equals("fullFence") || loads && call.name.equals("acquireFence"));
  }

  /** A store to an object that nobody else can have, before anything publishes it. */
  private boolean isPrivate(MethodNode method, int at) {
    return following(method.instructions.get(at)) instanceof MethodInsnNode call
        && call.owner.equals(VAR_HANDLE)
        && call.name.equals("releaseFence")
        && keepsPrivate(method, at);
  }

  private boolean keepsPrivate(MethodNode method, int at) {
    return searchIn(method).isPrivate(at);
  }

  /** A store to a private object, with others behind it of which the last one has a fence. */
  private boolean isOfRun(MethodNode method, int at) {
    return keepsPrivate(method, at) && searchIn(method).isFencedLater(at);
  }

  private EscapeSearch searchIn(MethodNode method) {
    if (!searches.containsKey(method)) {
      searches.put(method, EscapeSearch.in(read.name, method, facts));
    }
    return searches.get(method);
  }

  /** The instruction right behind one. */
  private static AbstractInsnNode following(AbstractInsnNode instruction) {
    AbstractInsnNode next = instruction.getNext();
    while (next instanceof LineNumberNode || next instanceof FrameNode) {
      next = next.getNext();
    }
    return next;
  }

  /**
   * Whether it is made sure, on every way to an access, that its object was asked for its owner.
   */
  private boolean isChecked(MethodNode method, int at, boolean loads, String holder) {
    AbstractInsnNode before = method.instructions.get(at).getPrevious();
    if (isCheck(before, holder)) {
      AbstractInsnNode copied = before.getPrevious().getPrevious();
      int code = copied.getOpcode();
      return loads ? code == Opcodes.DUP : code == Opcodes.POP || code == Opcodes.DUP_X2;
    }
    boolean mayBeThis = (method.access & Opcodes.ACC_STATIC) == 0;
    boolean asked = method.name.equals("<init>") || isAskedAtEntry(method, holder);
    return mayBeThis && asked && isThis(method, at, loads);
  }

  /** A call of a holder's check, with the owner of an object got right before it. */
  private static boolean isCheck(AbstractInsnNode instruction, String holder) {
    return instruction instanceof MethodInsnNode call
        && call.owner.equals(holder)
        && call.name.equals("check")
        && call.getPrevious() instanceof FieldInsnNode owner
        && owner.getOpcode() == Opcodes.GETFIELD
        && owner.name.startsWith(OWNER);
  }

  private static boolean isAskedAtEntry(MethodNode method, String holder) {
    AbstractInsnNode at = method.instructions.getFirst();
    while (at instanceof VarInsnNode object
        && object.getOpcode() == Opcodes.ALOAD
        && object.var == 0
        && at.getNext() instanceof FieldInsnNode owner
        && owner.getNext() instanceof MethodInsnNode call) {
      if (isCheck(call, holder)) {
        return true;
      }
      at = call.getNext();
    }
    return false;
  }

  /** Whether the object of an access can only come from the local variable 0, which nobody sets. */
  private boolean isThis(MethodNode method, int at, boolean loads) {
    if (traced != method) {
      traced = method;
      sources = sourcesOf(method);
    }
    if (sources == null) {
      return false;
    }
    Frame<SourceValue> frame = sources[at];
    // What is never reached accesses nothing.
    return frame == null
        || comesFromThis(method, sources, frame.getStack(frame.getStackSize() - (loads ? 1 : 2)));
  }

  /** Where the values come from at each instruction; null: it cannot be told. */
  private Frame<SourceValue>[] sourcesOf(MethodNode method) {
    for (AbstractInsnNode instruction : method.instructions) {
      if (instruction.getOpcode() == Opcodes.ASTORE && ((VarInsnNode) instruction).var == 0) {
        return null;
      }
    }
    try {
      return new Analyzer<>(new SourceInterpreter()).analyze(read.name, method);
    } catch (AnalyzerException e) {
      return null;
    }
  }

  private static boolean comesFromThis(
      MethodNode method, Frame<SourceValue>[] frames, SourceValue value) {
    for (AbstractInsnNode source : value.insns) {
      boolean loaded = source.getOpcode() == Opcodes.ALOAD && ((VarInsnNode) source).var == 0;
      if (!loaded && !(source.getOpcode() == Opcodes.DUP && copiesThis(method, frames, source))) {
        return false;
      }
    }
    return !value.insns.isEmpty();
  }

  private static boolean copiesThis(
      MethodNode method, Frame<SourceValue>[] frames, AbstractInsnNode copy) {
    Frame<SourceValue> frame = frames[method.instructions.indexOf(copy)];
    return comesFromThis(method, frames, frame.getStack(frame.getStackSize() - 1));
  }
}
