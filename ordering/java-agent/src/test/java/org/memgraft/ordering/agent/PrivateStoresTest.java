package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.BitSet;
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

class PrivateStoresTest {
  static Object shared;
  static Object[] slots = new Object[1];

  Object field;

  static void use(Object given) {}

  /** Methods whose stores stay private, and such whose array gets out in the middle. */
  @SuppressWarnings("unused")
  static final class Arrays {
    static int[] filled(int length) {
      int[] made = new int[length];
      for (int i = 0; i < length; i++) {
        made[i] = i;
      }
      return made;
    }

    static Object[] literal(Object one) {
      return new Object[] {one, one.toString(), "three"};
    }

    static void ofSeveral(int length) {
      long[][] made = new long[length][2];
      made[0] = null;
      made[1][0] = 1;
    }

    static void copied(int[] from) {
      int[] made = new int[from.length];
      System.arraycopy(from, 0, made, 0, from.length);
      made[0] = 1;
    }

    static void cast() {
      Object made = new int[1];
      ((int[]) made)[0] = 1;
      shared = made;
      ((int[]) made)[0] = 2;
    }

    static void byStatic() {
      int[] made = new int[1];
      made[0] = 1;
      shared = made;
      made[0] = 2;
    }

    static void byElement() {
      int[] made = new int[1];
      slots[0] = made;
      made[0] = 2;
    }

    static void byCall() {
      int[] made = new int[1];
      use(made);
      made[0] = 2;
    }

    static void byLambda() {
      int[] made = new int[1];
      Runnable runs = () -> use(made);
      made[0] = 2;
    }

    static void insideAnother() {
      int[] inner = new int[1];
      Object[] outer = {inner};
      shared = outer;
      inner[0] = 2;
    }

    static void byAnotherName() {
      int[] made = new int[1];
      int[] same = made;
      shared = same;
      made[0] = 2;
    }

    static void onOneWay(boolean way) {
      int[] made = new int[1];
      if (way) {
        shared = made;
      }
      made[0] = 2;
    }

    /** Which of two it is cannot be said, so neither counts. */
    static void oneOfTwo(boolean way) {
      int[] made = new int[1];
      int[] other = new int[1];
      int[] either = way ? made : other;
      shared = either;
      made[0] = 1;
      other[0] = 2;
    }

    static void inALoop(int times) {
      int[] made = new int[1];
      for (int i = 0; i < times; i++) {
        made[0] = i;
        shared = made;
      }
    }

    static void anewEachTime(int times) {
      for (int i = 0; i < times; i++) {
        int[] made = new int[1];
        made[0] = i;
        shared = made;
      }
    }

    /** The array of the turn before is another one, and is out. */
    static void ofTheTurnBefore(int times) {
      int[] before = new int[1];
      for (int i = 0; i < times; i++) {
        int[] made = new int[1];
        before[0] = i;
        made[0] = i;
        before = made;
        shared = made;
      }
    }

    /** The one that gets out is older. It was made at the same place, and that is mixed up. */
    static void theOlderGetsOut(int times) {
      int[] older = null;
      for (int i = 0; i < times; i++) {
        int[] made = new int[1];
        use(older);
        made[0] = i;
        older = made;
      }
    }

    static void caught() {
      int[] made = new int[1];
      try {
        use(made);
      } catch (RuntimeException e) {
        made[0] = 1;
      }
    }

    static int caughtAtTheEnd() {
      int[] made = new int[1];
      made[0] = 1;
      try {
        use(made);
      } catch (RuntimeException e) {
        made[0] = 1;
        return 1;
      }
      return 2;
    }

    static void byField(PrivateStoresTest other) {
      int[] made = new int[1];
      other.field = made;
      made[0] = 1;
    }

    static void locked() {
      int[] made = new int[1];
      synchronized (made) {
        made[0] = 1;
      }
    }

    static void anothers(int[] given) {
      given[0] = 1;
    }

    static void maybeAnothersOrItself(int[] given, boolean way, boolean again) {
      int[] made = new int[1];
      int[] one = way ? made : given;
      int[] other = again ? made : one;
      other[0] = 1;
    }

    static void maybeAnothers(int[] given, boolean way) {
      int[] made = way ? new int[1] : given;
      made[0] = 1;
    }
  }

  @Test
  void storesToArrays() {
    Map<String, String> expected = new TreeMap<>();
    expected.put("filled", "+");
    expected.put("literal", "+++");
    // The inner array comes from a load.
    expected.put("ofSeveral", "+-");
    expected.put("copied", "+");
    expected.put("cast", "+-");
    expected.put("byStatic", "+-");
    expected.put("byElement", "--");
    expected.put("byCall", "-");
    expected.put("byLambda", "-");
    expected.put("insideAnother", "+-");
    expected.put("byAnotherName", "-");
    expected.put("onOneWay", "-");
    expected.put("oneOfTwo", "--");
    expected.put("inALoop", "-");
    expected.put("anewEachTime", "+");
    expected.put("ofTheTurnBefore", "-+");
    expected.put("theOlderGetsOut", "-");
    expected.put("caught", "-");
    expected.put("caughtAtTheEnd", "+-");
    expected.put("byField", "--");
    expected.put("locked", "-");
    expected.put("anothers", "-");
    expected.put("maybeAnothers", "-");
    expected.put("maybeAnothersOrItself", "-");
    assertEquals(expected, stores(Arrays.class));
  }

  /** Constructors, told apart by their parameters. */
  @SuppressWarnings("unused")
  static final class Constructed {
    int one;
    long wide;
    long alsoWide;
    Object other;

    Constructed() {
      one = 1;
      other = "two";
    }

    Constructed(int byStatic) {
      one = 1;
      shared = this;
      one = 2;
    }

    Constructed(long byCall) {
      one = 1;
      use(this);
      one = 2;
    }

    Constructed(float byOwnMethod) {
      one = 1;
      changed();
      one = 2;
    }

    Constructed(double another) {
      Constructed made = new Constructed();
      made.one = 3;
      one = 1;
    }

    Constructed(char byAnother) {
      this();
      one = 2;
    }

    Constructed(Constructed given) {
      given.one = 1;
      one = 2;
    }

    Constructed(boolean inALoop) {
      for (int i = 0; i < 3; i++) {
        one = i;
        if (inALoop) {
          shared = this;
        }
      }
    }

    Constructed(long first, long second) {
      wide = alsoWide = second;
      one = 1;
    }

    Constructed(Object caught) {
      try {
        use(this);
      } catch (RuntimeException e) {
        one = 1;
      }
    }

    void changed() {
      one = 3;
    }
  }

  @SuppressWarnings("unused")
  static final class Derived extends Thread {
    int own;

    /** The other constructor may have given it away. */
    Derived() {
      own = 1;
    }
  }

  @SuppressWarnings("unused")
  final class Inner extends Thread {}

  @Test
  void storesToTheObjectUnderConstruction() {
    Map<String, String> expected = new TreeMap<>();
    expected.put("<init>()V", "++");
    expected.put("<init>(I)V", "+-");
    expected.put("<init>(J)V", "+-");
    expected.put("<init>(F)V", "+-");
    expected.put("<init>(D)V", "-+");
    expected.put("<init>(C)V", "-");
    expected.put("<init>(Lorg/memgraft/ordering/agent/PrivateStoresTest$Constructed;)V", "-+");
    expected.put("<init>(Z)V", "-");
    expected.put("<init>(JJ)V", "+++");
    expected.put("<init>(Ljava/lang/Object;)V", "-");
    expected.put("changed", "-");
    assertEquals(expected, stores(Constructed.class));
    assertEquals(Map.of("<init>()V", "-"), stores(Derived.class));
    // The outer object is stored before the other constructor is called.
    assertEquals(
        Map.of("<init>(Lorg/memgraft/ordering/agent/PrivateStoresTest;)V", "+"),
        stores(Inner.class));
  }

  @Test
  void theSearchAgrees() {
    for (Class<?> one : List.of(Arrays.class, Constructed.class, Derived.class, Inner.class)) {
      byte[] rewritten =
          Rewriter.rewrite(
              RewriterTest.bytesOf(one), Rewriter.Work.everything(RewriterTest.X86), new Sites());
      assertEquals(List.of(), Checker.unfenced(rewritten, RewriterTest.X86));
    }
  }

  /** A release fence in the place of each full one in turn. */
  @Test
  void theSearchFindsAStoreThatIsNotPrivate() {
    List<String> excused = new ArrayList<>();
    for (Class<?> one : List.of(Arrays.class, Constructed.class, Derived.class)) {
      byte[] rewritten =
          Rewriter.rewrite(
              RewriterTest.bytesOf(one), Rewriter.Work.everything(RewriterTest.X86), new Sites());
      ClassNode read = new ClassNode(Rewriter.API);
      new ClassReader(rewritten).accept(read, 0);
      for (MethodNode method : read.methods) {
        for (AbstractInsnNode instruction : method.instructions) {
          if (instruction instanceof MethodInsnNode call && call.name.equals("fullFence")) {
            call.name = "releaseFence";
            ClassWriter writer = new ClassWriter(0);
            read.accept(writer);
            if (Checker.unfenced(writer.toByteArray(), RewriterTest.X86).isEmpty()) {
              excused.add(method.name);
            }
            call.name = "fullFence";
          }
        }
      }
    }
    // The fence behind its call of arraycopy is not the checker's.
    assertEquals(List.of("copied"), excused);
  }

  /** By method: a plus for each private store, a minus for each other one. */
  private static Map<String, String> stores(Class<?> of) {
    return stores(of, KnownClasses.Facts.NONE);
  }

  /** The same, where the constructors may trust in others. */
  static Map<String, String> stores(Class<?> of, KnownClasses.Facts facts) {
    return marks(of, facts, (privates, runs, store) -> privates.get(store) ? '+' : '-');
  }

  /** Says what one store is. */
  interface Marker {
    char mark(BitSet privates, BitSet runs, int store);
  }

  /** By method: a character for each store. */
  static Map<String, String> marks(Class<?> of, KnownClasses.Facts facts, Marker marker) {
    ClassNode read = new ClassNode(Rewriter.API);
    new ClassReader(RewriterTest.bytesOf(of)).accept(read, 0);
    Map<String, String> found = new TreeMap<>();
    for (MethodNode method : read.methods) {
      BitSet privates = PrivateStores.of(read.name, method, facts);
      BitSet runs = Runs.of(method, privates);
      StringBuilder text = new StringBuilder();
      for (AbstractInsnNode instruction : method.instructions) {
        if (PrivateStores.isStore(instruction.getOpcode())) {
          text.append(marker.mark(privates, runs, text.length()));
        }
      }
      if (text.length() > 0) {
        boolean constructs = method.name.equals("<init>");
        found.put(constructs ? method.name + method.desc : method.name, text.toString());
      }
    }
    return found;
  }
}
