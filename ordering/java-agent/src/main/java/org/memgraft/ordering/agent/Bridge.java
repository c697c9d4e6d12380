package org.memgraft.ordering.agent;

import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.UnaryOperator;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * A class of the package java.lang, made here: what the JDK, the program and this agent can all
 * see, whatever class loader each of them comes from.
 */
final class Bridge {
  /** Of the class, and the beginning of the names of {@link Holder}s. */
  static final String NAME = "java/lang/MemgraftOrdering";

  private static final String OBJECT = "java/lang/Object";
  private static final String REWRITER = "rewriter";
  private static final String FUNCTION = "java/util/function/UnaryOperator";
  private static final String TOUCHES = "touches";
  private static final String CONSUMER = "java/util/function/IntConsumer";
  private static final String TOUCHED = "touched";
  private static final String DELAY = "delay";
  private static final String SEED = "seed";

  /** Of a delay: each is a multiplication and an addition that wait for the one before. */
  private static final int DELAY_STEPS = 8;

  /** Methods of {@link WeakMemory} that code calls, by name. */
  private static final Map<String, MethodType> WEAK = weak();

  /**
   * Methods of {@link Speculation} that code calls, by name: as which interface, whose one method
   * is `accept`. A method handle would be linked by code of the JDK that calls them itself.
   */
  private static final Map<String, Class<?>> SPECULATION =
      Map.of(
          "foreign", IntConsumer.class,
          "touched", Consumer.class,
          "reached", BiConsumer.class,
          "nativeCode", BiConsumer.class);

  private static final Map<Class<?>, String> SHAPES =
      Map.of(
          IntConsumer.class, "(I)V",
          Consumer.class, "(Ljava/lang/Object;)V",
          BiConsumer.class, "(Ljava/lang/Object;Ljava/lang/Object;)V");

  private static final String ME = "me";
  private static final String THREAD_ID = "threadId";
  private static final String HANDLE = "java/lang/invoke/MethodHandle";
  private static final String UNSAFE = "jdk/internal/misc/Unsafe";

  private Bridge() {}

  private static Map<String, MethodType> weak() {
    Map<String, MethodType> types = new TreeMap<>();
    for (String name : List.of("acquire", "called", "barrier", "storing")) {
      types.put(name, MethodType.methodType(void.class));
    }
    for (String name : List.of("enter", "calling")) {
      types.put(name, MethodType.methodType(void.class, int.class));
    }
    types.put("reach", MethodType.methodType(void.class, Object.class));
    for (String name : List.of("acquireOf", "releaseOf")) {
      types.put(name, MethodType.methodType(void.class, Object.class, int.class));
    }
    Map<String, Class<?>> kinds =
        Map.of(
            "Int", int.class,
            "Long", long.class,
            "Float", float.class,
            "Double", double.class,
            "Reference", Object.class);
    kinds.forEach(
        (kind, value) -> {
          types.put("load" + kind, MethodType.methodType(value, Object.class, int.class, value));
          types.put(
              "store" + kind,
              MethodType.methodType(void.class, Object.class, int.class, value, value));
        });
    return types;
  }

  /**
   * Makes the class.
   *
   * @param rewriter gets the bytes of each hidden class; what it returns is defined
   * @param touches gets what code says through {@link #callTouched}
   * @param weak is called through {@link #callWeak}; null: no code does
   * @param speculation is called through {@link #callSpeculation}; null: no code does
   */
  static void open(
      UnaryOperator<byte[]> rewriter,
      IntConsumer touches,
      WeakMemory weak,
      Speculation speculation,
      Instrumentation instrumentation)
      throws ReflectiveOperationException {
    instrumentation.redefineModule(
        Object.class.getModule(),
        Set.of(),
        Map.of(),
        Map.of("java.lang", Set.of(Bridge.class.getModule())),
        Set.of(),
        Map.of());
    MethodHandles.Lookup lookup =
        MethodHandles.privateLookupIn(Object.class, MethodHandles.lookup());
    Class<?> made = lookup.defineClass(bytes(speculation != null));
    lookup.findStaticVarHandle(made, REWRITER, UnaryOperator.class).setVolatile(rewriter);
    lookup.findStaticVarHandle(made, TOUCHES, IntConsumer.class).setVolatile(touches);
    if (weak != null) {
      for (Map.Entry<String, MethodType> one : WEAK.entrySet()) {
        MethodHandle method = MethodHandles.lookup().bind(weak, one.getKey(), one.getValue());
        String field = one.getKey();
        lookup.findStaticVarHandle(made, field, MethodHandle.class).setVolatile(method);
      }
    }
    if (speculation != null) {
      Map<String, Object> called = speculation.open(lookup, made, instrumentation);
      for (Map.Entry<String, Class<?>> one : SPECULATION.entrySet()) {
        lookup
            .findStaticVarHandle(made, one.getKey(), one.getValue())
            .setVolatile(one.getValue().cast(called.get(one.getKey())));
      }
    }
  }

  private static byte[] bytes(boolean speculates) {
    ClassWriter writer = new ClassWriter(0);
    int access = Opcodes.ACC_PUBLIC | Opcodes.ACC_FINAL | Opcodes.ACC_SUPER | Opcodes.ACC_SYNTHETIC;
    writer.visit(Opcodes.V17, access, NAME, null, OBJECT, null);
    int ofField = Opcodes.ACC_STATIC | Opcodes.ACC_VOLATILE;
    writer.visitField(ofField, REWRITER, "L" + FUNCTION + ";", null, null).visitEnd();
    writer.visitField(ofField, TOUCHES, "L" + CONSUMER + ";", null, null).visitEnd();
    int ofMethod = Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC;
    MethodVisitor code = writer.visitMethod(ofMethod, TOUCHED, "(I)V", null, null);
    code.visitCode();
    code.visitFieldInsn(Opcodes.GETSTATIC, NAME, TOUCHES, "L" + CONSUMER + ";");
    code.visitVarInsn(Opcodes.ILOAD, 0);
    code.visitMethodInsn(Opcodes.INVOKEINTERFACE, CONSUMER, "accept", "(I)V", true);
    code.visitInsn(Opcodes.RETURN);
    code.visitMaxs(2, 1);
    code.visitEnd();
    addDelay(writer);
    WEAK.forEach((name, type) -> addWeak(writer, name, type));
    if (speculates) {
      SPECULATION.forEach((name, type) -> addSpeculation(writer, name, type));
      addMe(writer);
    }
    writer.visitEnd();
    return writer.toByteArray();
  }

  /** A field with a method handle, and a static method that calls it. */
  private static void addWeak(ClassWriter writer, String name, MethodType type) {
    writer.visitField(Opcodes.ACC_STATIC, name, "L" + HANDLE + ";", null, null).visitEnd();
    String shape = type.toMethodDescriptorString();
    int access = Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC;
    MethodVisitor code = writer.visitMethod(access, name, shape, null, null);
    code.visitCode();
    code.visitFieldInsn(Opcodes.GETSTATIC, NAME, name, "L" + HANDLE + ";");
    int variable = 0;
    for (Type parameter : Type.getArgumentTypes(shape)) {
      code.visitVarInsn(parameter.getOpcode(Opcodes.ILOAD), variable);
      variable += parameter.getSize();
    }
    code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, HANDLE, "invokeExact", shape, false);
    code.visitInsn(Type.getReturnType(shape).getOpcode(Opcodes.IRETURN));
    code.visitMaxs(Math.max(1 + variable, 2), variable);
    code.visitEnd();
  }

  /**
   * A method that takes about as long as a full fence (20 to 30 cycles on x86) and orders nothing:
   * it computes, and its result decides whether it stores something, which it never does.
   */
  private static void addDelay(ClassWriter writer) {
    writer.visitField(Opcodes.ACC_STATIC, SEED, "I", null, null).visitEnd();
    int access = Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC;
    MethodVisitor code = writer.visitMethod(access, DELAY, "()V", null, null);
    code.visitCode();
    code.visitFieldInsn(Opcodes.GETSTATIC, NAME, SEED, "I");
    for (int i = 0; i < DELAY_STEPS; i++) {
      // Knuth's linear congruential generator.
      code.visitLdcInsn(1664525);
      code.visitInsn(Opcodes.IMUL);
      code.visitLdcInsn(1013904223);
      code.visitInsn(Opcodes.IADD);
    }
    Label end = new Label();
    code.visitJumpInsn(Opcodes.IFNE, end);
    code.visitInsn(Opcodes.ICONST_1);
    code.visitFieldInsn(Opcodes.PUTSTATIC, NAME, SEED, "I");
    code.visitLabel(end);
    code.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
    code.visitInsn(Opcodes.RETURN);
    code.visitMaxs(2, 0);
    code.visitEnd();
  }

  /** A field with an object, and a static method that calls it. */
  private static void addSpeculation(ClassWriter writer, String name, Class<?> type) {
    String descriptor = type.descriptorString();
    int ofField = Opcodes.ACC_STATIC | Opcodes.ACC_VOLATILE;
    writer.visitField(ofField, name, descriptor, null, null).visitEnd();
    String shape = SHAPES.get(type);
    int access = Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC;
    MethodVisitor code = writer.visitMethod(access, name, shape, null, null);
    code.visitCode();
    code.visitFieldInsn(Opcodes.GETSTATIC, NAME, name, descriptor);
    int variable = 0;
    for (Type parameter : Type.getArgumentTypes(shape)) {
      code.visitVarInsn(parameter.getOpcode(Opcodes.ILOAD), variable++);
    }
    String owner = Type.getInternalName(type);
    code.visitMethodInsn(Opcodes.INVOKEINTERFACE, owner, "accept", shape, true);
    code.visitInsn(Opcodes.RETURN);
    code.visitMaxs(3, 2);
    code.visitEnd();
  }

  /**
   * A method that gets the number of the thread it runs on. Thread.getId would do, but a program's
   * thread may have its own before Java 19.
   */
  private static void addMe(ClassWriter writer) {
    int ofField = Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_FINAL;
    writer.visitField(ofField, THREAD_ID, "J", null, null).visitEnd();
    MethodVisitor start = writer.visitMethod(Opcodes.ACC_STATIC, "<clinit>", "()V", null, null);
    start.visitCode();
    start.visitMethodInsn(Opcodes.INVOKESTATIC, UNSAFE, "getUnsafe", "()L" + UNSAFE + ";", false);
    start.visitLdcInsn(Type.getObjectType("java/lang/Thread"));
    start.visitLdcInsn("tid");
    String offset = "(Ljava/lang/Class;Ljava/lang/String;)J";
    start.visitMethodInsn(Opcodes.INVOKEVIRTUAL, UNSAFE, "objectFieldOffset", offset, false);
    start.visitFieldInsn(Opcodes.PUTSTATIC, NAME, THREAD_ID, "J");
    start.visitInsn(Opcodes.RETURN);
    start.visitMaxs(3, 0);
    start.visitEnd();
    int access = Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC;
    MethodVisitor code = writer.visitMethod(access, ME, "()J", null, null);
    code.visitCode();
    code.visitMethodInsn(Opcodes.INVOKESTATIC, UNSAFE, "getUnsafe", "()L" + UNSAFE + ";", false);
    String thread = "()Ljava/lang/Thread;";
    code.visitMethodInsn(Opcodes.INVOKESTATIC, "java/lang/Thread", "currentThread", thread, false);
    code.visitFieldInsn(Opcodes.GETSTATIC, NAME, THREAD_ID, "J");
    code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, UNSAFE, "getLong", "(Ljava/lang/Object;J)J", false);
    code.visitInsn(Opcodes.LRETURN);
    code.visitMaxs(4, 0);
    code.visitEnd();
  }

  /** Hands the byte array in a local variable to the rewriter, and puts what it returns there. */
  static void callRewriter(MethodVisitor code, int variable) {
    code.visitFieldInsn(Opcodes.GETSTATIC, NAME, REWRITER, "L" + FUNCTION + ";");
    code.visitVarInsn(Opcodes.ALOAD, variable);
    String shape = "(Ljava/lang/Object;)Ljava/lang/Object;";
    code.visitMethodInsn(
        Opcodes.INVOKEINTERFACE, "java/util/function/Function", "apply", shape, true);
    code.visitTypeInsn(Opcodes.CHECKCAST, "[B");
    code.visitVarInsn(Opcodes.ASTORE, variable);
  }

  /** Waits as long as a full fence would, without one. */
  static void callDelay(MethodVisitor code) {
    code.visitMethodInsn(Opcodes.INVOKESTATIC, NAME, DELAY, "()V", false);
  }

  /** Calls a method of {@link WeakMemory}, whose parameters are on the stack. */
  static void callWeak(MethodVisitor code, String name) {
    String shape = WEAK.get(name).toMethodDescriptorString();
    code.visitMethodInsn(Opcodes.INVOKESTATIC, NAME, name, shape, false);
  }

  /** Calls a method of {@link Speculation}, whose parameters are on the stack. */
  static void callSpeculation(MethodVisitor code, String name) {
    String shape = SHAPES.get(SPECULATION.get(name));
    code.visitMethodInsn(Opcodes.INVOKESTATIC, NAME, name, shape, false);
  }

  /** Gets the number of the thread that the code runs on: a long. */
  static void callMe(MethodVisitor code) {
    code.visitMethodInsn(Opcodes.INVOKESTATIC, NAME, ME, "()J", false);
  }

  /** Hands a number to the consumer of touches. It needs one more entry of the stack. */
  static void callTouched(MethodVisitor code, int number) {
    code.visitLdcInsn(number);
    code.visitMethodInsn(Opcodes.INVOKESTATIC, NAME, TOUCHED, "(I)V", false);
  }
}
