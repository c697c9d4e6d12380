package org.memgraft.ordering.agent;

import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * A fence that bytecode of any class can ask for: a call without operands that leaves the stack as
 * it is.
 */
enum Fence {
  /** No later access may be done before an earlier load. Behind every load. */
  ACQUIRE("acquireFence"),

  /**
   * No later store may be done before an earlier access. Before a store; and behind one to an
   * object that no later store has published yet.
   */
  RELEASE("releaseFence"),

  /**
   * No later access may be done before any earlier one. Behind every store, and so before every
   * load.
   */
  FULL("fullFence");

  static final String OWNER = "java/lang/invoke/VarHandle";
  static final String SHAPE = "()V";

  /** The method of {@link java.lang.invoke.VarHandle}. */
  final String method;

  Fence(String method) {
    this.method = method;
  }

  void into(MethodVisitor code) {
    code.visitMethodInsn(Opcodes.INVOKESTATIC, OWNER, method, SHAPE, false);
  }
}
