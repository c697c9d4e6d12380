package org.memgraft.ordering.litmus;

import static org.objectweb.asm.Opcodes.*;

import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;

/** The variables of a program: volatile ones are fields, the others live where the place says. */
final class Variables {
  private final Program program;
  private final Place place;
  private final String owner;

  /** Of the class whose internal name is owner. */
  Variables(Program program, Place place, String owner) {
    this.program = program;
    this.place = place;
    this.owner = owner;
  }

  void declare(ClassVisitor shape) {
    place.declare(shape, owner, program.variables().size());
    for (int variable = 0; variable < program.variables().size(); variable++) {
      if (program.isVolatile(variable)) {
        for (int copy = 0; copy < Math.max(1, place.copies()); copy++) {
          String descriptor = place.type.descriptor;
          shape.visitField(ofVolatiles(), name(variable, copy), descriptor, null, null);
        }
      }
    }
  }

  /** Leaves the variable's value on the stack. */
  void read(MethodVisitor code, int variable, int copy) {
    if (!program.isVolatile(variable)) {
      place.read(code, owner, variable, copy);
      return;
    }
    int get = isStatic() ? GETSTATIC : GETFIELD;
    pushInstance(code);
    code.visitFieldInsn(get, owner, name(variable, copy), place.type.descriptor);
  }

  /** Stores what value pushes. */
  void write(MethodVisitor code, int variable, int copy, Runnable value) {
    if (!program.isVolatile(variable)) {
      place.write(code, owner, variable, copy, value);
      return;
    }
    int put = isStatic() ? PUTSTATIC : PUTFIELD;
    pushInstance(code);
    value.run();
    code.visitFieldInsn(put, owner, name(variable, copy), place.type.descriptor);
  }

  private boolean isStatic() {
    return place.copies() > 0;
  }

  private int ofVolatiles() {
    return ACC_VOLATILE | (isStatic() ? ACC_STATIC : 0);
  }

  private void pushInstance(MethodVisitor code) {
    if (!isStatic()) {
      code.visitVarInsn(ALOAD, 0);
    }
  }

  private static String name(int variable, int copy) {
    return "volatile" + variable + "_" + copy;
  }
}
