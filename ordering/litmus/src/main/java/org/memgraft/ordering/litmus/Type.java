package org.memgraft.ordering.litmus;

import static org.objectweb.asm.Opcodes.*;

import java.util.Locale;
import org.objectweb.asm.MethodVisitor;

/** The types of the variables that are raced for, and how their values 0 to 7 are spelled. */
enum Type {
  BOOLEAN("Z", 1, T_BOOLEAN, BALOAD, BASTORE),
  BYTE("B", 1, T_BYTE, BALOAD, BASTORE),
  SHORT("S", 2, T_SHORT, SALOAD, SASTORE),
  CHAR("C", 2, T_CHAR, CALOAD, CASTORE),
  INT("I", 4, T_INT, IALOAD, IASTORE),
  LONG("J", 8, T_LONG, LALOAD, LASTORE),
  FLOAT("F", 4, T_FLOAT, FALOAD, FASTORE),
  DOUBLE("D", 8, T_DOUBLE, DALOAD, DASTORE),
  REFERENCE("L" + Names.VALUE + ";", 4, 0, AALOAD, AASTORE);

  /** A value that is none of those written: torn, or out of thin air. */
  static final int NONE = -1;

  /** Both halves of a long say which value it is, so that one torn in two is seen. */
  private static final long IN_BOTH_HALVES = 0x0000_0001_0000_0001L;

  /** The same for a double, with bits that make it a normal number. */
  private static final long DOUBLE_BITS = 0x0010_0001_0010_0001L;

  final String descriptor;
  final int bytes;
  final int newArrayOperand;
  final int arrayLoad;
  final int arrayStore;

  Type(String descriptor, int bytes, int newArrayOperand, int arrayLoad, int arrayStore) {
    this.descriptor = descriptor;
    this.bytes = bytes;
    this.newArrayOperand = newArrayOperand;
    this.arrayLoad = arrayLoad;
    this.arrayStore = arrayStore;
  }

  /** How 1 is spelled as a long. */
  private long unit() {
    return switch (this) {
      case LONG -> IN_BOTH_HALVES;
      case DOUBLE -> DOUBLE_BITS;
      default -> 1;
    };
  }

  private org.objectweb.asm.Type asm() {
    return org.objectweb.asm.Type.getType(descriptor);
  }

  int slots() {
    return asm().getSize();
  }

  /** ILOAD and the like for a local variable of this type. */
  int opcode(int opcodeForInt) {
    return asm().getOpcode(opcodeForInt);
  }

  void push(MethodVisitor code, int value) {
    switch (this) {
      case LONG -> code.visitLdcInsn(value * IN_BOTH_HALVES);
      case FLOAT -> code.visitLdcInsn((float) value);
      case DOUBLE -> code.visitLdcInsn(Double.longBitsToDouble(value * DOUBLE_BITS));
      case REFERENCE -> {
        code.visitFieldInsn(GETSTATIC, Names.VALUE, "ALL", "[L" + Names.VALUE + ";");
        code.visitIntInsn(BIPUSH, value);
        code.visitInsn(AALOAD);
      }
      default -> code.visitIntInsn(BIPUSH, value);
    }
  }

  void newArray(MethodVisitor code, int length) {
    code.visitIntInsn(SIPUSH, length);
    if (this == REFERENCE) {
      code.visitTypeInsn(ANEWARRAY, Names.VALUE);
    } else {
      code.visitIntInsn(NEWARRAY, newArrayOperand);
    }
  }

  /** Turns the value on the stack into a long that {@link #value} understands. */
  void toLong(MethodVisitor code) {
    switch (this) {
      case LONG -> {}
      case FLOAT -> code.visitInsn(F2L);
      case DOUBLE ->
          code.visitMethodInsn(
              INVOKESTATIC, "java/lang/Double", "doubleToRawLongBits", "(D)J", false);
      case REFERENCE -> code.visitFieldInsn(GETFIELD, Names.VALUE, "number", "J");
      default -> code.visitInsn(I2L);
    }
  }

  /** The value from 0 to 7 that was written, or {@link #NONE}. */
  int value(long raw) {
    if (raw == 0) {
      return 0;
    }
    for (int value = 1; value < 8; value++) {
      if (raw == value * unit()) {
        return value;
      }
    }
    return NONE;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Internal names of the classes that generated code uses. */
  static final class Names {
    static final String VALUE = name(Value.class);
    static final String CELL = name(Cell.class);
    static final String FROZEN_CELL = name(FrozenCell.class);

    private Names() {}

    static String name(Class<?> type) {
      return org.objectweb.asm.Type.getInternalName(type);
    }
  }
}
