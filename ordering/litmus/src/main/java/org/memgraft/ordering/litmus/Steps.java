package org.memgraft.ordering.litmus;

import static org.objectweb.asm.Opcodes.*;

import org.memgraft.ordering.litmus.Program.Between;
import org.memgraft.ordering.litmus.Program.Interlude;
import org.memgraft.ordering.litmus.Program.Monitor;
import org.memgraft.ordering.litmus.Program.Read;
import org.memgraft.ordering.litmus.Program.Step;
import org.memgraft.ordering.litmus.Program.Way;
import org.memgraft.ordering.litmus.Program.Write;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;

/**
 * Writes the racing methods, one per thread and copy: raceT(instance, results, i), where i is the
 * instance's number. All reads stay in local variables until the last step is done; only then are
 * they put into results[i * n], ..., where n is the number of the thread's registers.
 */
final class Steps {
  private static final int INSTANCE = 2;
  private static final int FIRST_REGISTER = 3;

  /** More than -XX:FreqInlineSize (325) and C1's MaxInlineSize (35): never inlined. */
  private static final int TOO_LARGE = 400;

  private static final String CELL = Type.Names.CELL;
  private static final String FROZEN_CELL = Type.Names.FROZEN_CELL;
  private static final String OBJECT = "java/lang/Object";

  private final ClassWriter shape;
  private final String owner;
  private final Place place;
  private final Type type;
  private final Program program;
  private final Variables variables;
  private int helpers;

  private int thread;
  private int copy;

  /** Where the common monitor was entered last. */
  private Label taken;

  private MethodVisitor code;

  Steps(ClassWriter shape, String owner, Place place, Program program) {
    this.shape = shape;
    this.owner = owner;
    this.place = place;
    type = place.type;
    this.program = program;
    variables = new Variables(program, place, owner);
  }

  static String method(int thread, int copy) {
    return copy == 0 ? "race" + thread : "race" + thread + "_" + copy;
  }

  /** The instance as an Object: a hidden class cannot name itself in a descriptor. */
  static final String DESCRIPTOR = "(L" + OBJECT + ";[JI)V";

  /** Tells the verifier what parameter 0 is. */
  static void castInstance(MethodVisitor code, String owner) {
    code.visitVarInsn(ALOAD, 0);
    code.visitTypeInsn(CHECKCAST, owner);
    code.visitVarInsn(ASTORE, 0);
  }

  /** Writes the method of one thread. */
  void write(int ofThread, int ofCopy) {
    thread = ofThread;
    copy = ofCopy;
    code = method(method(thread, copy), DESCRIPTOR);
    castInstance(code, owner);
    for (Step step : program.threads().get(thread)) {
      if (step instanceof Write write) {
        write(write);
      } else if (step instanceof Read read) {
        read(read);
      } else if (step == Monitor.TAKE) {
        pushMonitor();
        taken = enter(monitor());
      } else if (step == Monitor.GIVE) {
        leave(monitor(), taken);
      } else if (step instanceof Interlude interlude) {
        between(interlude.between());
      }
    }
    int at = 0;
    for (int register : program.registersOf(thread)) {
      code.visitVarInsn(ALOAD, 1);
      code.visitVarInsn(ILOAD, INSTANCE);
      Place.pushInt(code, program.registersOf(thread).size());
      code.visitInsn(IMUL);
      Place.pushInt(code, at++);
      code.visitInsn(IADD);
      code.visitVarInsn(type.opcode(ILOAD), local(register));
      type.toLong(code);
      code.visitInsn(LASTORE);
    }
    if (program.threads().get(thread).contains(new Interlude(Between.KEPT))) {
      code.visitVarInsn(ALOAD, spare());
      code.visitFieldInsn(PUTSTATIC, owner, "kept" + thread, "L" + OBJECT + ";");
    }
    end(code, RETURN);
  }

  /** The members that steps use, and what gives them their values. */
  void writeInitializer() {
    shape.visitField(ACC_STATIC | ACC_FINAL, "values", "[" + type.descriptor, null, null);
    shape.visitField(ACC_STATIC | ACC_VOLATILE, "quiet", "I", null, null);
    shape.visitField(ACC_STATIC | ACC_FINAL, "common", "L" + OBJECT + ";", null, null);
    MethodVisitor init = method("<clinit>", "()V");
    make(init, OBJECT, "()V");
    init.visitFieldInsn(PUTSTATIC, owner, "common", "L" + OBJECT + ";");
    variables.initialize(init);
    type.newArray(init, 2);
    init.visitInsn(DUP);
    init.visitInsn(ICONST_0);
    type.push(init, 0);
    init.visitInsn(type.arrayStore);
    init.visitInsn(DUP);
    init.visitInsn(ICONST_1);
    type.push(init, 1);
    init.visitInsn(type.arrayStore);
    init.visitFieldInsn(PUTSTATIC, owner, "values", "[" + type.descriptor);
    for (int t = 0; t < program.threads().size(); t++) {
      shape.visitField(ACC_STATIC, "kept" + t, "L" + OBJECT + ";", null, null);
      shape.visitField(ACC_STATIC | ACC_FINAL, "lock" + t, "L" + OBJECT + ";", null, null);
      make(init, OBJECT, "()V");
      init.visitFieldInsn(PUTSTATIC, owner, "lock" + t, "L" + OBJECT + ";");
    }
    end(init, RETURN);

    MethodVisitor idle = method("idle", "()V");
    end(idle, RETURN);
    MethodVisitor away = method("idleAway", "()V");
    enlarge(away);
    end(away, RETURN);
  }

  /** Keeps the object on the stack in this local variable; returns where its monitor is held. */
  private Label enter(int local) {
    code.visitInsn(DUP);
    code.visitVarInsn(ASTORE, local);
    code.visitInsn(MONITORENTER);
    Label entered = new Label();
    code.visitLabel(entered);
    return entered;
  }

  /** Also after an exception: C2 does not compile a method that would keep the monitor then. */
  private void leave(int local, Label entered) {
    Label given = new Label();
    Label handled = new Label();
    Label end = new Label();
    code.visitVarInsn(ALOAD, local);
    code.visitInsn(MONITOREXIT);
    code.visitJumpInsn(GOTO, end);
    code.visitLabel(given);
    code.visitVarInsn(ALOAD, local);
    code.visitInsn(MONITOREXIT);
    code.visitLabel(handled);
    code.visitInsn(ATHROW);
    code.visitLabel(end);
    // Last: what is thrown and caught within is not for them.
    code.visitTryCatchBlock(entered, given, given, null);
    code.visitTryCatchBlock(given, handled, given, null);
  }

  /** The instance itself; of statics an object that all copies have in common. */
  private void pushMonitor() {
    if (place.copies() == 0) {
      code.visitVarInsn(ALOAD, 0);
    } else {
      code.visitFieldInsn(GETSTATIC, owner, "common", "L" + OBJECT + ";");
    }
  }

  // --- accesses
  // -----------------------------------------------------------------------------------

  private void write(Write write) {
    switch (write.way()) {
      case CALLEE, AWAY -> {
        MethodVisitor caller = code;
        String name = "write" + helpers++;
        code = method(name, "(L" + OBJECT + ";)V");
        castInstance(code, owner);
        if (write.way() == Way.AWAY) {
          enlarge(code);
        }
        store(write);
        end(code, RETURN);
        code = caller;
        callHelper(name, "V");
      }
      case BRANCH -> inBranch(() -> store(write));
      case LOOP -> inLoop(() -> store(write));
      case HANDLER -> inHandler(() -> store(write));
      case ARRAYCOPY -> {
        Place.Arrays arrays = arrays(write.variable(), write.way());
        code.visitFieldInsn(GETSTATIC, owner, "values", "[" + type.descriptor);
        Place.pushInt(code, write.value());
        arrays.pushArray(code, owner);
        Place.pushInt(code, arrays.index(write.variable()));
        arrayCopyOfOne();
      }
      case FILL -> {
        Place.Arrays arrays = arrays(write.variable(), write.way());
        arrays.pushArray(code, owner);
        Place.pushInt(code, arrays.index(write.variable()));
        Place.pushInt(code, arrays.index(write.variable()) + 1);
        type.push(code, write.value());
        String element = type == Type.REFERENCE ? "L" + OBJECT + ";" : type.descriptor;
        String fill = "([" + element + "II" + element + ")V";
        code.visitMethodInsn(INVOKESTATIC, "java/util/Arrays", "fill", fill, false);
      }
      case DIRECT -> store(write);
      case OPAQUE, RELEASE, VOLATILE -> {
        MethodVisitor into = code;
        variables.writeIn(
            write.way(), code, write.variable(), copy, () -> type.push(into, write.value()));
      }
      default -> throw cannot(write.way());
    }
  }

  private void store(Write write) {
    MethodVisitor into = code;
    variables.write(into, write.variable(), copy, () -> type.push(into, write.value()));
  }

  private void read(Read read) {
    switch (read.way()) {
      case CALLEE, AWAY -> {
        MethodVisitor caller = code;
        String name = "read" + helpers++;
        code = method(name, "(L" + OBJECT + ";)" + type.descriptor);
        castInstance(code, owner);
        if (read.way() == Way.AWAY) {
          enlarge(code);
        }
        variables.read(code, read.variable(), copy);
        end(code, type.opcode(IRETURN));
        code = caller;
        callHelper(name, type.descriptor);
      }
      case BRANCH -> {
        inBranch(() -> load(read));
        return;
      }
      case LOOP -> {
        // The verifier must see the register assigned even if the loop were left at once.
        load(read);
        inLoop(() -> load(read));
        return;
      }
      case HANDLER -> {
        inHandler(() -> load(read));
        return;
      }
      case ARRAYCOPY -> {
        Place.Arrays arrays = arrays(read.variable(), read.way());
        type.newArray(code, 1);
        code.visitVarInsn(ASTORE, spare());
        arrays.pushArray(code, owner);
        Place.pushInt(code, arrays.index(read.variable()));
        code.visitVarInsn(ALOAD, spare());
        code.visitInsn(ICONST_0);
        arrayCopyOfOne();
        code.visitVarInsn(ALOAD, spare());
        code.visitInsn(ICONST_0);
        code.visitInsn(type.arrayLoad);
      }
      case CLONE -> {
        Place.Arrays arrays = arrays(read.variable(), read.way());
        arrays.pushArray(code, owner);
        code.visitMethodInsn(INVOKEVIRTUAL, arrays.array(), "clone", "()L" + OBJECT + ";", false);
        elementOfCopy(arrays, read);
      }
      case COPYOF -> {
        Place.Arrays arrays = arrays(read.variable(), read.way());
        String copied = type == Type.REFERENCE ? "[L" + OBJECT + ";" : arrays.array();
        arrays.pushArray(code, owner);
        Place.pushInt(code, arrays.index(read.variable()) + 1);
        code.visitMethodInsn(
            INVOKESTATIC, "java/util/Arrays", "copyOf", "(" + copied + "I)" + copied, false);
        elementOfCopy(arrays, read);
      }
      case EQUALS -> {
        Place.Arrays arrays = arrays(read.variable(), read.way());
        if (type != Type.INT) {
          throw cannot(read.way());
        }
        arrays.pushArray(code, owner);
        Place.pushInt(code, arrays.index(read.variable()));
        Place.pushInt(code, arrays.index(read.variable()) + 1);
        code.visitFieldInsn(GETSTATIC, owner, "values", "[I");
        code.visitInsn(ICONST_0);
        code.visitInsn(ICONST_1);
        code.visitMethodInsn(INVOKESTATIC, "java/util/Arrays", "equals", "([III[III)Z", false);
        code.visitInsn(ICONST_1);
        code.visitInsn(IXOR);
      }
      case DIRECT -> variables.read(code, read.variable(), copy);
      case OPAQUE, ACQUIRE, VOLATILE -> variables.readIn(read.way(), code, read.variable(), copy);
      default -> throw cannot(read.way());
    }
    code.visitVarInsn(type.opcode(ISTORE), local(read.register()));
  }

  private void load(Read read) {
    variables.read(code, read.variable(), copy);
    code.visitVarInsn(type.opcode(ISTORE), local(read.register()));
  }

  private void elementOfCopy(Place.Arrays arrays, Read read) {
    code.visitTypeInsn(CHECKCAST, arrays.array());
    Place.pushInt(code, arrays.index(read.variable()));
    code.visitInsn(type.arrayLoad);
  }

  private void arrayCopyOfOne() {
    code.visitInsn(ICONST_1);
    code.visitMethodInsn(
        INVOKESTATIC,
        "java/lang/System",
        "arraycopy",
        "(L" + OBJECT + ";IL" + OBJECT + ";II)V",
        false);
  }

  private Place.Arrays arrays(int variable, Way way) {
    if (place instanceof Place.Arrays arrays && !program.isVolatile(variable)) {
      return arrays;
    }
    throw cannot(way);
  }

  private IllegalArgumentException cannot(Way way) {
    return new IllegalArgumentException(
        "%s: not at %s of %s".formatted(way, place.getClass().getSimpleName(), type));
  }

  // --- what may stand between
  // ---------------------------------------------------------------------

  private void between(Between between) {
    switch (between) {
      case FRESH, KEPT, FROZEN -> {
        code.visitTypeInsn(NEW, between == Between.FROZEN ? FROZEN_CELL : CELL);
        code.visitInsn(DUP);
        code.visitVarInsn(ILOAD, INSTANCE);
        code.visitMethodInsn(
            INVOKESPECIAL, between == Between.FROZEN ? FROZEN_CELL : CELL, "<init>", "(I)V", false);
        code.visitVarInsn(ASTORE, spare());
      }
      case ARRAY -> {
        Place.pushInt(code, 4);
        code.visitIntInsn(NEWARRAY, T_INT);
        code.visitInsn(DUP);
        code.visitInsn(ICONST_2);
        code.visitVarInsn(ILOAD, INSTANCE);
        code.visitInsn(IASTORE);
        code.visitVarInsn(ASTORE, spare());
      }
      case BRANCH -> {
        Label end = new Label();
        code.visitVarInsn(ILOAD, INSTANCE);
        Place.pushInt(code, 7);
        code.visitInsn(IAND);
        code.visitJumpInsn(IFNE, end);
        call("idleAway");
        code.visitLabel(end);
      }
      case LOOP -> inLoop(() -> call("idle"));
      case CALL -> call("idle");
      case AWAY -> call("idleAway");
      case THROW -> inHandler(() -> {});
      case VOLATILE -> {
        code.visitFieldInsn(GETSTATIC, owner, "quiet", "I");
        code.visitInsn(POP);
      }
      case LOCK -> {
        code.visitFieldInsn(GETSTATIC, owner, "lock" + thread, "L" + OBJECT + ";");
        leave(spare(), enter(spare()));
      }
      case ELIDED -> {
        make(code, OBJECT, "()V");
        leave(spare(), enter(spare()));
      }
    }
  }

  private void inBranch(Runnable body) {
    Label other = new Label();
    Label end = new Label();
    code.visitVarInsn(ILOAD, INSTANCE);
    code.visitInsn(ICONST_1);
    code.visitInsn(IAND);
    code.visitJumpInsn(IFEQ, other);
    body.run();
    code.visitJumpInsn(GOTO, end);
    code.visitLabel(other);
    body.run();
    code.visitLabel(end);
  }

  /** One to four times, as the instance's number has it, so that no compiler unrolls it whole. */
  private void inLoop(Runnable body) {
    Label next = new Label();
    code.visitVarInsn(ILOAD, INSTANCE);
    code.visitInsn(ICONST_3);
    code.visitInsn(IAND);
    code.visitInsn(ICONST_1);
    code.visitInsn(IADD);
    code.visitVarInsn(ISTORE, spare() + 1);
    code.visitLabel(next);
    body.run();
    code.visitIincInsn(spare() + 1, -1);
    code.visitVarInsn(ILOAD, spare() + 1);
    code.visitJumpInsn(IFGT, next);
  }

  private void inHandler(Runnable body) {
    Label start = new Label();
    Label end = new Label();
    code.visitTryCatchBlock(start, end, end, Type.Names.name(Thrown.class));
    code.visitLabel(start);
    code.visitFieldInsn(
        GETSTATIC, Type.Names.name(Thrown.class), "ONE", "L" + Type.Names.name(Thrown.class) + ";");
    code.visitInsn(ATHROW);
    code.visitLabel(end);
    code.visitInsn(POP);
    body.run();
  }

  private void call(String name) {
    code.visitMethodInsn(INVOKESTATIC, owner, name, "()V", false);
  }

  private void callHelper(String name, String returned) {
    code.visitVarInsn(ALOAD, 0);
    code.visitMethodInsn(INVOKESTATIC, owner, name, "(L" + OBJECT + ";)" + returned, false);
  }

  // --- the methods' own
  // ---------------------------------------------------------------------------

  private int local(int register) {
    return FIRST_REGISTER + 2 * register;
  }

  private int spare() {
    return FIRST_REGISTER + 2 * program.registers();
  }

  /** Behind the two that are spare. */
  private int monitor() {
    return spare() + 2;
  }

  private MethodVisitor method(String name, String descriptor) {
    MethodVisitor made = shape.visitMethod(ACC_STATIC, name, descriptor, null, null);
    made.visitCode();
    return made;
  }

  private static void end(MethodVisitor code, int returning) {
    code.visitInsn(returning);
    code.visitMaxs(0, 0);
    code.visitEnd();
  }

  private static void make(MethodVisitor code, String made, String descriptor) {
    code.visitTypeInsn(NEW, made);
    code.visitInsn(DUP);
    code.visitMethodInsn(INVOKESPECIAL, made, "<init>", descriptor, false);
  }

  /** Instructions that are jumped over: they count where it is decided what is inlined. */
  static void enlarge(MethodVisitor code) {
    Label on = new Label();
    code.visitJumpInsn(GOTO, on);
    for (int i = 0; i < TOO_LARGE; i++) {
      code.visitInsn(NOP);
    }
    code.visitLabel(on);
  }
}
