package org.memgraft.ordering.litmus;

import static org.objectweb.asm.Opcodes.*;

import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;

/**
 * Writes the class that races a program at a place: it has the variables as members, one method per
 * thread for one instance ("race0", "race1", ...), and one per thread that goes through many
 * ("thread0", ...).
 */
final class Generator {
  private static final String RACE = Type.Names.name(Race.class);
  private static final String SWEEP = "([Ljava/lang/Object;[JII)V";

  /** Instances in a batch: 4 cache lines each, so that a batch stays in a core's own cache. */
  private static final int BATCH = 1024;

  private final Program program;
  private final Place place;
  private final String owner;
  private final Variables variables;
  private final ClassWriter shape =
      new ClassWriter(ClassWriter.COMPUTE_FRAMES) {
        @Override
        protected String getCommonSuperClass(String one, String other) {
          // The class being written cannot be loaded to be asked.
          return "java/lang/Object";
        }
      };

  private Generator(Program program, Place place, String name) {
    this.program = program;
    this.place = place;
    owner = RACE.substring(0, RACE.lastIndexOf('/') + 1) + name;
    variables = new Variables(program, place, owner);
  }

  /** A race of the program at the place; its class has this name. */
  static Race race(Program program, Place place, String name) {
    byte[] bytes = bytes(program, place, name);
    try {
      Class<?> generated =
          place.hidden()
              ? MethodHandles.lookup().defineHiddenClass(bytes, true).lookupClass()
              : new Loader().define(bytes);
      return (Race) generated.getConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot load the race " + name, e);
    }
  }

  static byte[] bytes(Program program, Place place, String name) {
    return new Generator(program, place, name).write();
  }

  /** One per race: its class goes when the race is over. */
  private static final class Loader extends ClassLoader {
    Loader() {
      super(Race.class.getClassLoader());
    }

    Class<?> define(byte[] bytes) {
      return defineClass(null, bytes, 0, bytes.length);
    }
  }

  private byte[] write() {
    shape.visit(
        V17,
        ACC_PUBLIC | ACC_FINAL | ACC_SUPER,
        owner,
        null,
        "java/lang/Object",
        new String[] {RACE});
    variables.declare(shape);
    constructor();
    fresh();
    batch();
    int copies = Math.max(1, place.copies());
    List<String> racing = new ArrayList<>();
    Steps steps = new Steps(shape, owner, place, program);
    for (int thread = 0; thread < program.threads().size(); thread++) {
      for (int copy = 0; copy < copies; copy++) {
        steps.write(thread, copy);
      }
      sweepOf(thread);
      racing.add("thread" + thread);
      if (place.copies() == 0) {
        racing.add(Steps.method(thread, 0));
      }
    }
    racingMethods(racing);
    sweep();
    perInstance("reset", "", this::resetVariables);
    perInstance("finals", "[J", this::putFinals);
    steps.writeInitializer();
    shape.visitEnd();
    return shape.toByteArray();
  }

  private MethodVisitor method(int access, String name, String descriptor) {
    MethodVisitor code = shape.visitMethod(access, name, descriptor, null, null);
    code.visitCode();
    return code;
  }

  private static void end(MethodVisitor code, int returning) {
    code.visitInsn(returning);
    code.visitMaxs(0, 0);
    code.visitEnd();
  }

  private void constructor() {
    MethodVisitor code = method(ACC_PUBLIC, "<init>", "()V");
    code.visitVarInsn(ALOAD, 0);
    code.visitMethodInsn(INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
    place.construct(code, owner, program.variables().size());
    end(code, RETURN);
  }

  private void fresh() {
    MethodVisitor code = method(ACC_PUBLIC, "fresh", "()Ljava/lang/Object;");
    if (place.copies() > 0) {
      code.visitInsn(ACONST_NULL);
    } else {
      code.visitTypeInsn(NEW, owner);
      code.visitInsn(DUP);
      code.visitMethodInsn(INVOKESPECIAL, owner, "<init>", "()V", false);
    }
    end(code, ARETURN);
  }

  private void batch() {
    MethodVisitor code = method(ACC_PUBLIC, "batch", "()I");
    Place.pushInt(code, place.copies() > 0 ? place.copies() : BATCH);
    end(code, IRETURN);
  }

  private void racingMethods(List<String> names) {
    MethodVisitor code = method(ACC_PUBLIC, "racingMethods", "()Ljava/util/List;");
    code.visitLdcInsn(String.join(",", names));
    code.visitLdcInsn(",");
    code.visitMethodInsn(
        INVOKEVIRTUAL,
        "java/lang/String",
        "split",
        "(Ljava/lang/String;)[Ljava/lang/String;",
        false);
    code.visitMethodInsn(
        INVOKESTATIC, "java/util/List", "of", "([Ljava/lang/Object;)Ljava/util/List;", true);
    end(code, ARETURN);
  }

  /** Calls the method of the thread: sweep(thread, instances, results, from, to). */
  private void sweep() {
    MethodVisitor code = method(ACC_PUBLIC, "sweep", "(I[Ljava/lang/Object;[JII)V");
    int threads = program.threads().size();
    Label[] cases = new Label[threads];
    for (int thread = 0; thread < threads; thread++) {
      cases[thread] = new Label();
    }
    Label none = new Label();
    code.visitVarInsn(ILOAD, 1);
    code.visitTableSwitchInsn(0, threads - 1, none, cases);
    for (int thread = 0; thread < threads; thread++) {
      code.visitLabel(cases[thread]);
      code.visitVarInsn(ALOAD, 2);
      code.visitVarInsn(ALOAD, 3);
      code.visitVarInsn(ILOAD, 4);
      code.visitVarInsn(ILOAD, 5);
      code.visitMethodInsn(INVOKESTATIC, owner, "thread" + thread, SWEEP, false);
      code.visitInsn(RETURN);
    }
    code.visitLabel(none);
    end(code, RETURN);
  }

  /** The loop through the instances, or through the copies, which are all done in one go. */
  private void sweepOf(int thread) {
    MethodVisitor code = method(ACC_STATIC, "thread" + thread, SWEEP);
    // Compiled on its own, not as a part of sweep: so it can be told whether it is.
    Steps.enlarge(code);
    for (int copy = 0; copy < place.copies(); copy++) {
      code.visitInsn(ACONST_NULL);
      code.visitVarInsn(ALOAD, 1);
      Place.pushInt(code, copy);
      callRace(code, thread, copy);
    }
    if (place.copies() == 0) {
      Label next = new Label();
      Label done = new Label();
      code.visitLabel(next);
      code.visitVarInsn(ILOAD, 2);
      code.visitVarInsn(ILOAD, 3);
      code.visitJumpInsn(IF_ICMPGE, done);
      code.visitVarInsn(ALOAD, 0);
      code.visitVarInsn(ILOAD, 2);
      code.visitInsn(AALOAD);
      code.visitVarInsn(ALOAD, 1);
      code.visitVarInsn(ILOAD, 2);
      callRace(code, thread, 0);
      code.visitIincInsn(2, 1);
      code.visitJumpInsn(GOTO, next);
      code.visitLabel(done);
    }
    end(code, RETURN);
  }

  private void callRace(MethodVisitor code, int thread, int copy) {
    code.visitMethodInsn(INVOKESTATIC, owner, Steps.method(thread, copy), Steps.DESCRIPTOR, false);
  }

  @FunctionalInterface
  private interface Body {
    void write(MethodVisitor code, int copy);
  }

  /** name(instances, instance, ...): a static method does it for the instance, or for the copy. */
  private void perInstance(String name, String more, Body body) {
    int copies = Math.max(1, place.copies());
    String one = "(Ljava/lang/Object;" + more + ")V";
    for (int copy = 0; copy < copies; copy++) {
      MethodVisitor code = method(ACC_STATIC, name + copy, one);
      Steps.castInstance(code, owner);
      body.write(code, copy);
      end(code, RETURN);
    }
    MethodVisitor code = method(ACC_PUBLIC, name, "([Ljava/lang/Object;I" + more + ")V");
    Label[] cases = new Label[copies];
    for (int copy = 0; copy < copies; copy++) {
      cases[copy] = new Label();
    }
    if (place.copies() > 0) {
      code.visitVarInsn(ILOAD, 2);
      code.visitTableSwitchInsn(0, copies - 1, cases[0], cases);
    }
    for (int copy = 0; copy < copies; copy++) {
      code.visitLabel(cases[copy]);
      code.visitVarInsn(ALOAD, 1);
      code.visitVarInsn(ILOAD, 2);
      code.visitInsn(AALOAD);
      if (!more.isEmpty()) {
        code.visitVarInsn(ALOAD, 3);
      }
      code.visitMethodInsn(INVOKESTATIC, owner, name + copy, one, false);
      code.visitInsn(RETURN);
    }
    code.visitMaxs(0, 0);
    code.visitEnd();
  }

  private void resetVariables(MethodVisitor code, int copy) {
    for (int variable = 0; variable < program.variables().size(); variable++) {
      variables.write(code, variable, copy, () -> place.type.push(code, 0));
    }
  }

  private void putFinals(MethodVisitor code, int copy) {
    int at = 0;
    for (int variable : program.finals()) {
      code.visitVarInsn(ALOAD, 1);
      Place.pushInt(code, at++);
      variables.read(code, variable, copy);
      place.type.toLong(code);
      code.visitInsn(LASTORE);
    }
  }
}
