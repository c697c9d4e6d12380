package org.memgraft.ordering.litmus;

import static org.objectweb.asm.Opcodes.*;

import java.util.BitSet;
import java.util.List;
import org.memgraft.ordering.litmus.Program.Step;
import org.memgraft.ordering.litmus.Program.Way;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;

/**
 * The variables of a program: volatile ones are fields, the others live where the place says. Each
 * may also be accessed in a mode of VarHandle.
 */
final class Variables {
  private final Program program;
  private final Place place;
  private final String owner;
  private final ModeAccesses modes;

  /** Those that are accessed in a mode. */
  private final BitSet inModes = new BitSet();

  /** Of the class whose internal name is owner. */
  Variables(Program program, Place place, String owner) {
    this.program = program;
    this.place = place;
    this.owner = owner;
    modes = new ModeAccesses(place, owner);
    for (Step step : program.threads().stream().flatMap(List::stream).toList()) {
      Program.access(step)
          .filter(access -> access.way().isMode())
          .ifPresent(access -> inModes.set(access.variable()));
    }
  }

  void declare(ClassVisitor shape) {
    place.declare(shape, owner, program.variables().size());
    for (int variable = 0; variable < program.variables().size(); variable++) {
      for (int copy = 0; copy < copies(); copy++) {
        if (program.isVolatile(variable)) {
          String descriptor = place.type.descriptor;
          shape.visitField(ofVolatiles(), name(variable, copy), descriptor, null, null);
        }
        if (inModes.get(variable)) {
          modes.declare(shape, variable, copy);
        }
      }
    }
  }

  /** More of the class's initializer. */
  void initialize(MethodVisitor code) {
    place.initialize(code, owner, program.variables().size());
    for (int variable : inModes.stream().toArray()) {
      for (int copy = 0; copy < copies(); copy++) {
        if (isElement(variable)) {
          modes.initializeForElements(code, variable, ((Place.Arrays) place).array());
        } else {
          modes.initialize(code, variable, copy, field(variable, copy));
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

  /** Leaves the variable's value on the stack. */
  void readIn(Way mode, MethodVisitor code, int variable, int copy) {
    modes.pushHandle(code, variable, copy);
    modes.get(code, mode, pushCoordinates(code, variable));
  }

  /** Stores what value pushes. */
  void writeIn(Way mode, MethodVisitor code, int variable, int copy, Runnable value) {
    modes.pushHandle(code, variable, copy);
    String coordinates = pushCoordinates(code, variable);
    value.run();
    modes.set(code, mode, coordinates);
  }

  /** Pushes what a handle needs to find the variable; returns the descriptors. */
  private String pushCoordinates(MethodVisitor code, int variable) {
    if (isElement(variable)) {
      Place.Arrays arrays = (Place.Arrays) place;
      arrays.pushArray(code, owner);
      Place.pushInt(code, arrays.index(variable));
      return arrays.array() + "I";
    }
    pushInstance(code);
    return isStatic() ? "" : "L" + owner + ";";
  }

  private boolean isElement(int variable) {
    return place instanceof Place.Arrays && !program.isVolatile(variable);
  }

  private boolean isStatic() {
    return place.copies() > 0;
  }

  private int copies() {
    return Math.max(1, place.copies());
  }

  private int ofVolatiles() {
    return ACC_VOLATILE | (isStatic() ? ACC_STATIC : 0);
  }

  private void pushInstance(MethodVisitor code) {
    if (!isStatic()) {
      code.visitVarInsn(ALOAD, 0);
    }
  }

  /** The name of the field that the variable is. */
  private String field(int variable, int copy) {
    return program.isVolatile(variable) ? name(variable, copy) : place.field(variable, copy);
  }

  private static String name(int variable, int copy) {
    return "volatile" + variable + "_" + copy;
  }
}
