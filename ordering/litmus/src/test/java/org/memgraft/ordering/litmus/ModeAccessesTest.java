package org.memgraft.ordering.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** An x86 CPU shows only by chance which method of VarHandle is called; the class file tells. */
class ModeAccessesTest {
  private static final Program PROGRAM =
      Program.parse(
          "x=1 by opaque; r0=y by opaque; x=2 by release; r1=v by acquire; v=1 by volatile;"
              + " r2=x by volatile; x=3 | y=1");

  /** A field, a static and an element: handles are had in different ways. */
  static List<Place> places() {
    return List.of(
        new Place.Fields(Type.LONG, 0, false),
        new Place.Statics(Type.INT),
        new Place.Arrays(Type.REFERENCE, false));
  }

  @ParameterizedTest
  @MethodSource("places")
  void callsTheMethodOfTheMode(Place place) {
    List<String> called = new ArrayList<>();
    new ClassReader(Generator.bytes(PROGRAM, place, "Modes"))
        .accept(
            new ClassVisitor(Opcodes.ASM9) {
              @Override
              public MethodVisitor visitMethod(
                  int access, String name, String shape, String signature, String[] exceptions) {
                return name.equals("race0") ? callsOfHandles(called) : null;
              }
            },
            0);
    assertEquals(
        List.of("setOpaque", "getOpaque", "setRelease", "getAcquire", "setVolatile", "getVolatile"),
        called);
  }

  private static MethodVisitor callsOfHandles(List<String> called) {
    return new MethodVisitor(Opcodes.ASM9) {
      @Override
      public void visitMethodInsn(
          int instruction, String of, String method, String shape, boolean isInterface) {
        if (of.equals("java/lang/invoke/VarHandle")) {
          called.add(method);
        }
      }
    };
  }

  @Test
  void aHiddenClassHasNone() {
    Place hidden = new Place.HiddenFields(Type.INT);
    assertThrows(IllegalArgumentException.class, () -> Generator.bytes(PROGRAM, hidden, "Modes"));
  }
}
