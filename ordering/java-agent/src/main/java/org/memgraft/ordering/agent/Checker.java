package org.memgraft.ordering.agent;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Reads a rewritten class and finds the accesses by instruction that have no fence right behind
 * them. A release fence is enough behind a store to a private object, and one behind a run of
 * stores to private arrays. It shares nothing with {@link Fences}, which puts them there, nor with
 * {@link PrivateStores} and {@link Runs}.
 */
final class Checker extends ClassVisitor {
  private static final Set<Integer> LOADS =
      Set.of(
          Opcodes.GETFIELD,
          Opcodes.GETSTATIC,
          Opcodes.IALOAD,
          Opcodes.LALOAD,
          Opcodes.FALOAD,
          Opcodes.DALOAD,
          Opcodes.AALOAD,
          Opcodes.BALOAD,
          Opcodes.CALOAD,
          Opcodes.SALOAD);
  private static final Set<Integer> STORES =
      Set.of(
          Opcodes.PUTFIELD,
          Opcodes.PUTSTATIC,
          Opcodes.IASTORE,
          Opcodes.LASTORE,
          Opcodes.FASTORE,
          Opcodes.DASTORE,
          Opcodes.AASTORE,
          Opcodes.BASTORE,
          Opcodes.CASTORE,
          Opcodes.SASTORE);

  private static final String VAR_HANDLE = "java/lang/invoke/VarHandle";

  /** Machines on which a JVM has a full fence behind each volatile store. */
  private static final Set<String> STORES_ARE_FENCED = Set.of("amd64", "x86_64");

  private final List<String> found = new ArrayList<>();
  private final Set<String> volatiles = new HashSet<>();
  private final Set<String> finals = new HashSet<>();

  /** Those of the final fields that a method stores which only old class files may have. */
  private final Set<String> changing = new HashSet<>();

  /** The methods that load a final field without a fence, and which. */
  private final List<Map.Entry<String, String>> ofFinals = new ArrayList<>();

  private String name;

  /**
   * The methods, with their shapes, in which a store has a release fence behind it, or one to an
   * element none at all.
   */
  private final Set<String> released = new HashSet<>();

  private final Machine machine;
  private final KnownClasses.Facts facts;

  private Checker(Machine machine, KnownClasses.Facts facts) {
    super(Rewriter.API);
    this.machine = machine;
    this.facts = facts;
  }

  /** The methods with an access that has no fence, as "Class.method", once for each access. */
  static List<String> unfenced(byte[] rewritten, Machine machine) {
    return unfenced(rewritten, machine, KnownClasses.Facts.NONE);
  }

  /**
   * The same.
   *
   * @param facts what the class may trust in
   */
  static List<String> unfenced(byte[] rewritten, Machine machine, KnownClasses.Facts facts) {
    Checker checker = new Checker(machine, facts);
    ClassReader reader = new ClassReader(rewritten);
    reader.accept(checker, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    for (Map.Entry<String, String> load : checker.ofFinals) {
      if (checker.changing.contains(load.getValue())) {
        checker.found.add(load.getKey());
      }
    }
    if (!checker.released.isEmpty()) {
      reader.accept(checker.new Reader(), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    }
    return checker.found;
  }

  /** Reads the methods again in which stores have to be private. */
  private final class Reader extends ClassVisitor {
    Reader() {
      super(Rewriter.API);
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String method, String shape, String signature, String[] exceptions) {
      if (!released.contains(method + shape)) {
        return null;
      }
      return new MethodNode(Rewriter.API, access, method, shape, signature, exceptions) {
        @Override
        public void visitEnd() {
          addPublicStores(this);
        }
      };
    }
  }

  /** Those that have no full fence, and whose object may have got out. */
  private void addPublicStores(MethodNode method) {
    EscapeSearch search = EscapeSearch.in(name, method, facts);
    for (int i = 0; i < method.instructions.size(); i++) {
      AbstractInsnNode store = method.instructions.get(i);
      int code = store.getOpcode();
      boolean released = isFenced(store, "releaseFence");
      boolean open = isElementStore(code) && !isFenced(store, "fullFence");
      boolean excused = search.isPrivate(i) && (released || search.isFencedLater(i));
      if (STORES.contains(code) && (released || open) && !excused) {
        found.add(name.replace('/', '.') + '.' + method.name);
      }
    }
  }

  private static boolean isElementStore(int code) {
    return code >= Opcodes.IASTORE && code <= Opcodes.SASTORE;
  }

  private static boolean isFenced(AbstractInsnNode store, String fence) {
    return store.getNext() instanceof MethodInsnNode call
        && call.owner.equals(VAR_HANDLE)
        && call.name.equals(fence);
  }

  @Override
  public void visit(
      int version, int access, String name, String signature, String parent, String[] interfaces) {
    this.name = name;
  }

  @Override
  public FieldVisitor visitField(
      int access, String field, String shape, String signature, Object value) {
    if ((access & Opcodes.ACC_VOLATILE) != 0) {
      volatiles.add(field + ' ' + shape);
    }
    if ((access & Opcodes.ACC_FINAL) != 0) {
      finals.add(field + ' ' + shape);
    }
    return null;
  }

  @Override
  public MethodVisitor visitMethod(
      int access, String method, String shape, String signature, String[] exceptions) {
    boolean fence = name.equals(VAR_HANDLE) && method.endsWith("Fence");
    return fence ? null : new Method(method, shape);
  }

  /** Every instruction but a call of a fence settles what the one before left open. */
  private final class Method extends MethodVisitor {
    private final String method;
    private final String withShape;
    private final boolean initializes;
    private boolean loaded;
    private boolean stored;

    /** Whether that was to an element, which may be of a run. */
    private boolean mayRun;

    /** The final field that was loaded, or null. */
    private String loadedFinal;

    Method(String method, String shape) {
      super(Rewriter.API);
      this.method = name.replace('/', '.') + '.' + method;
      withShape = method + shape;
      initializes = method.startsWith("<");
    }

    private void next(int instruction) {
      settle();
      loadedFinal = null;
      loaded = LOADS.contains(instruction);
      stored = STORES.contains(instruction);
      mayRun = isElementStore(instruction);
    }

    private void settle() {
      if (loaded && loadedFinal != null) {
        ofFinals.add(Map.entry(method, loadedFinal));
      } else if (stored && mayRun) {
        released.add(withShape);
      } else if (loaded || stored) {
        found.add(method);
      }
      loaded = false;
      stored = false;
    }

    @Override
    public void visitFieldInsn(int instruction, String of, String field, String shape) {
      next(instruction);
      if (of.equals(name) && volatiles.contains(field + ' ' + shape)) {
        loaded = false;
        stored &= !STORES_ARE_FENCED.contains(machine.name());
      }
      if (!of.equals(name)) {
        loaded &= !facts.isFinal(of, field, shape);
      } else if (finals.contains(field + ' ' + shape)) {
        loadedFinal = loaded ? field + ' ' + shape : null;
        if (stored && !initializes) {
          changing.add(field + ' ' + shape);
        }
      }
    }

    @Override
    public void visitMethodInsn(
        int instruction, String of, String called, String shape, boolean isInterface) {
      if (of.equals(VAR_HANDLE)) {
        boolean full = called.equals("fullFence");
        boolean release = called.equals("releaseFence");
        if (stored && release) {
          released.add(withShape);
        }
        loaded &= !full && !called.equals("acquireFence");
        stored &= !full && !release;
      }
      next(instruction);
    }

    @Override
    public void visitInsn(int instruction) {
      next(instruction);
    }

    @Override
    public void visitIntInsn(int instruction, int operand) {
      next(instruction);
    }

    @Override
    public void visitVarInsn(int instruction, int variable) {
      next(instruction);
    }

    @Override
    public void visitTypeInsn(int instruction, String type) {
      next(instruction);
    }

    @Override
    public void visitInvokeDynamicInsn(
        String called, String shape, Handle bootstrap, Object... arguments) {
      next(Opcodes.INVOKEDYNAMIC);
    }

    @Override
    public void visitJumpInsn(int instruction, Label label) {
      next(instruction);
    }

    /** Code that jumps here has no access before it. */
    @Override
    public void visitLabel(Label label) {
      settle();
    }

    @Override
    public void visitLdcInsn(Object value) {
      next(Opcodes.LDC);
    }

    @Override
    public void visitIincInsn(int variable, int increment) {
      next(Opcodes.IINC);
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
      next(Opcodes.TABLESWITCH);
    }

    @Override
    public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
      next(Opcodes.LOOKUPSWITCH);
    }

    @Override
    public void visitMultiANewArrayInsn(String type, int dimensions) {
      next(Opcodes.MULTIANEWARRAY);
    }

    @Override
    public void visitEnd() {
      settle();
    }
  }
}
