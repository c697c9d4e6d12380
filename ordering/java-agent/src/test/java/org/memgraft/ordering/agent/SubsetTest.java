package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

class SubsetTest {
  private static final String HERE = "org.memgraft.ordering.agent.SubsetTest$";
  private static final ClassLoader LOADER = SubsetTest.class.getClassLoader();

  static class Base {
    int shared;
    int[] elements = {1};
  }

  static class Derived extends Base {
    int own;

    int work() {
      own++;
      return elements[0] + shared++ + Integer.valueOf(own).hashCode() + elements.clone().length;
    }
  }

  private static Subset of(String... lines) {
    return Subset.of(List.of(lines), "a test", new Hierarchy());
  }

  /** The instructions of Derived.work that are an access or a fence, by their names. */
  private static List<String> rewritten(Subset subset, Machine machine) {
    return rewritten(subset, false, machine);
  }

  private static List<String> rewritten(Subset subset, boolean delays, Machine machine) {
    byte[] bytes =
        Rewriter.rewrite(
            RewriterTest.bytesOf(Derived.class),
            new Rewriter.Work(subset, delays, machine, LOADER, false),
            new Sites());
    List<String> found = new ArrayList<>();
    ClassFiles.read(bytes, "work", new Accesses(found));
    return found;
  }

  private static final class Accesses extends MethodVisitor {
    private final List<String> found;

    Accesses(List<String> found) {
      super(Rewriter.API);
      this.found = found;
    }

    @Override
    public void visitFieldInsn(int instruction, String of, String name, String shape) {
      found.add((instruction == Opcodes.GETFIELD ? "load " : "store ") + name);
    }

    @Override
    public void visitInsn(int instruction) {
      if (instruction == Opcodes.IALOAD) {
        found.add("load element");
      }
    }

    @Override
    public void visitMethodInsn(
        int instruction, String of, String name, String shape, boolean isInterface) {
      found.add(name);
    }
  }

  private static final List<String> STOCK =
      List.of(
          "load own",
          "store own",
          "load elements",
          "load element",
          "load shared",
          "store shared",
          "load own",
          "valueOf",
          "hashCode",
          "load elements",
          "clone");

  @Test
  void nothingNamedIsNothingChanged() {
    assertEquals(STOCK, rewritten(of("# nothing", "", "org.example.Other.own"), RewriterTest.X86));
  }

  @Test
  void aNamedFieldGetsWhatAVolatileOneHas() {
    List<String> expected = new ArrayList<>(STOCK);
    expected.addAll(7, List.of("acquireFence"));
    expected.addAll(2, List.of("fullFence"));
    expected.addAll(1, List.of("acquireFence", "releaseFence"));
    assertEquals(expected, rewritten(of(HERE + "Derived.own # why"), RewriterTest.X86));
  }

  /** The code names it as a field of Derived. */
  @Test
  void anInheritedFieldIsFoundByTheClassThatDeclaresIt() {
    Subset subset = of(HERE + "Base.shared", HERE + "Derived.shared");
    List<String> expected = new ArrayList<>(STOCK);
    expected.addAll(6, List.of("fullFence"));
    expected.addAll(5, List.of("acquireFence", "releaseFence"));
    assertEquals(expected, rewritten(subset, RewriterTest.X86));
    assertEquals(List.of(HERE + "Derived.shared"), subset.unmatched());
  }

  @Test
  void elementsAndCallsAreNamedByTheirMethod() {
    List<String> ofElements = rewritten(of(HERE + "Derived.work[]"), RewriterTest.X86);
    List<String> expected = new ArrayList<>(STOCK);
    expected.add(4, "acquireFence");
    assertEquals(expected, ofElements);
    expected = new ArrayList<>(STOCK);
    expected.add("acquireFence");
    expected.add(10, "fullFence");
    assertEquals(expected, rewritten(of(HERE + "Derived.work()"), RewriterTest.X86));
  }

  @Test
  void aDelayStandsWhereAFullFenceWould() {
    List<String> expected = new ArrayList<>(STOCK);
    expected.add(2, "delay");
    assertEquals(expected, rewritten(of(HERE + "Derived.own"), true, RewriterTest.X86));
  }

  /** There a load may be done before an earlier store of the program's own volatile fields. */
  @Test
  void onArmALoadHasAFenceBeforeIt() {
    List<String> expected = new ArrayList<>(STOCK);
    expected.add(4, "acquireFence");
    expected.add(3, "fullFence");
    assertEquals(expected, rewritten(of(HERE + "Derived.work[]"), RewriterTest.ARM));
  }

  @Test
  void whatBeginsLikeItIsNamedByAStar() {
    Subset all = of(HERE + "Derived.*");
    assertTrue(all.hasField(LOADER, HERE.replace('.', '/') + "Derived", "own", "I"));
    assertFalse(all.hasField(LOADER, HERE.replace('.', '/') + "Derived", "shared", "I"));
    assertTrue(all.hasElements(HERE.replace('.', '/') + "Derived", "other"));
    assertEquals(List.of(), all.unmatched());
    assertFalse(of("org.example.*").hasCalls("org/examples/Test", "run"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"java.util.HashMap.size", "jdk.internal.*", "com.sun.net.Server.x[]"})
  void knowsWhetherItReachesTheJdk(String entry) {
    assertTrue(of(entry).reachesTheJdk());
    assertFalse(of("org.example." + entry).reachesTheJdk());
    assertTrue(Subset.ALL.reachesTheJdk());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "stopped", "a..b", ".a.b", "a.b.", "a/b.c", "a b.c", "a.b[", "a.b[]()", "a.*.b", "*"
      })
  void aWrongLineIsNamed(String line) {
    var refused = assertThrows(IllegalArgumentException.class, () -> of("a.b", line));
    assertTrue(refused.getMessage().endsWith(" in line 2; found '" + line + "'"));
    assertTrue(refused.getMessage().startsWith("only=a test: expected a field such as "));
  }

  @Test
  void aFileThatIsNoTextIsRefused(@TempDir Path folder) throws IOException {
    Path file = Files.write(folder.resolve("only"), new byte[] {(byte) 0xff, (byte) 0xfe});
    var refused =
        assertThrows(IllegalArgumentException.class, () -> Subset.read(file, new Hierarchy()));
    assertEquals("only=" + file + ": expected a text file in UTF-8", refused.getMessage());
  }
}
