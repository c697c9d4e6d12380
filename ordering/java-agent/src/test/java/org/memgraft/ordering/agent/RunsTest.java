package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

class RunsTest {
  /** Methods that fill arrays. */
  @SuppressWarnings("unused")
  static final class Lists {
    static int[] three() {
      return new int[] {1, 2, 3};
    }

    static Object[] ofVariables(Object one, Object other) {
      Object[] made = {one, other, "three"};
      return made;
    }

    static int[][] nested() {
      return new int[][] {{1, 2}, {3}};
    }

    static void two() {
      PrivateStoresTest.use(new int[] {1, 2});
      PrivateStoresTest.use(new int[] {3, 4});
    }

    static int[] aCallBetween(int one) {
      return new int[] {1, Integer.bitCount(one), 3};
    }

    static void anothersBetween(int[] given) {
      int[] made = {1, 2};
      given[0] = 3;
      PrivateStoresTest.shared = made;
    }

    static int[] anothersAmongThem(int[] given) {
      return new int[] {1, given[0] = 2};
    }

    static void givenAwayBetween() {
      Object[] made = {"one"};
      PrivateStoresTest.shared = made;
      made[0] = null;
    }

    static int[] aWayBetween(boolean way) {
      return new int[] {1, way ? 2 : 3, 4};
    }

    static void tried() {
      try {
        int[] made = {1, 2};
        PrivateStoresTest.use(made);
      } catch (RuntimeException e) {
        PrivateStoresTest.use(null);
      }
    }
  }

  @Test
  void theLastStoreHasTheFenceOfAll() {
    Map<String, String> expected = new TreeMap<>();
    expected.put("three", "..|");
    expected.put("ofVariables", "..|");
    expected.put("nested", "....|");
    expected.put("two", ".|.|");
    expected.put("aCallBetween", "|.|");
    expected.put("anothersBetween", ".|-");
    expected.put("anothersAmongThem", "|-|");
    expected.put("givenAwayBetween", "|-");
    expected.put("aWayBetween", "|.|");
    expected.put("tried", "||");
    assertEquals(expected, stores());
  }

  /** By method: a point for each store of a run but its last, a line for other private ones. */
  private static Map<String, String> stores() {
    return PrivateStoresTest.marks(
        Lists.class,
        KnownClasses.Facts.NONE,
        (privates, runs, store) -> runs.get(store) ? '.' : privates.get(store) ? '|' : '-');
  }

  @Test
  void theCheckersAgree() {
    byte[] rewritten = rewritten();
    assertEquals(List.of(), Checker.unfenced(rewritten, RewriterTest.X86));
    assertEquals(List.of(), SpeculatorTest.unordered(rewritten));
  }

  /** Without the release fences of one method, all its private stores are found. */
  @Test
  void theCheckersFindARunWithoutItsFence() {
    int all = 0;
    for (Map.Entry<String, String> method : stores().entrySet()) {
      int privates = method.getValue().replace("-", "").length();
      String name = Lists.class.getName() + '.' + method.getKey();
      byte[] planted = without(method.getKey(), privates);
      List<String> expected = Collections.nCopies(privates, name);
      assertEquals(expected, Checker.unfenced(planted, RewriterTest.X86));
      assertEquals(expected, SpeculatorTest.unordered(planted));
      all += privates;
    }
    assertTrue(all > 20);
  }

  /** A handler may publish what a run has stored before it threw. */
  @Test
  void theCheckersFindARunThatAHandlerMayEnd() {
    byte[] planted = without("tried", 1);
    List<String> expected = List.of(Lists.class.getName() + ".tried");
    assertEquals(expected, Checker.unfenced(planted, RewriterTest.X86));
    assertEquals(expected, SpeculatorTest.unordered(planted));
  }

  private static byte[] rewritten() {
    return Rewriter.rewrite(
        RewriterTest.bytesOf(Lists.class), Rewriter.Work.everything(RewriterTest.X86), new Sites());
  }

  /** Without the first so many release fences of a method. */
  private static byte[] without(String from, int most) {
    ClassNode read = new ClassNode(Rewriter.API);
    new ClassReader(rewritten()).accept(read, 0);
    int removed = 0;
    for (MethodNode method : read.methods) {
      for (AbstractInsnNode instruction : method.instructions.toArray()) {
        if (method.name.equals(from)
            && removed < most
            && instruction instanceof MethodInsnNode call
            && call.name.equals("releaseFence")) {
          method.instructions.remove(instruction);
          removed++;
        }
      }
    }
    ClassWriter writer = new ClassWriter(0);
    read.accept(writer);
    return writer.toByteArray();
  }
}
