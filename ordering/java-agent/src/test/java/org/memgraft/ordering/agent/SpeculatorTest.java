package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

class SpeculatorTest {
  private static final Machine X86 = RewriterTest.X86;

  private final Hierarchy hierarchy = new Hierarchy();
  private final Speculation speculation = new Speculation(false, hierarchy);
  private final Sites sites = new Sites();

  static class Base {
    int inherited;
  }

  /** Accesses fields in each way that the rewriter tells apart. */
  static class Sample extends Base implements Serializable {
    private static final long serialVersionUID = 1;
    static int shared;
    private final int fixed;
    volatile int ordered;
    int number;
    transient Object reference;
    long wide;
    double real;
    int[] elements = {1};

    Sample(int fixed) {
      this.fixed = fixed;
      number = fixed + 1;
    }

    int once() {
      return number;
    }

    int often() {
      number += inherited;
      wide++;
      return number + fixed + ordered;
    }

    int branches(boolean which) {
      Sample other = which ? this : new Sample(2);
      return other.number++ + (which ? number : 0);
    }

    static void others(Sample other) {
      other.number = 1;
      other.reference = other;
      other.wide = 2;
      other.real = other.wide + other.number++;
      other.elements[0] += shared;
    }

    Sample copied() throws CloneNotSupportedException {
      Sample same = this;
      same.number = 3;
      return (Sample) clone();
    }

    static int ofTheJdk(Cell cell) {
      return cell.number;
    }

    private final class Cell {
      int number = Sample.this.number;
    }
  }

  /** Of the default that the JVM computes from what a class declares. */
  @SuppressWarnings("serial")
  static class Computed implements Serializable {
    int number;
    private String text;

    public String text() {
      return text + number;
    }
  }

  static class Published {
    static Published last;
    int number;

    Published() {
      number = 1;
      last = this;
      number = 2;
    }
  }

  private byte[] rewritten(Class<?> original, Offer.Origin origin) {
    Offer offer = new Offer(original.getClassLoader(), RewriterTest.bytesOf(original), origin);
    Rewriter.Work work = new Rewriter.Work(Subset.ALL, false, X86, offer.loader(), true);
    return Speculator.rewrite(offer, work, speculation, hierarchy, sites);
  }

  private byte[] rewritten(Class<?> original) {
    return rewritten(original, Offer.Origin.LOADED);
  }

  /** What a method calls of holders and of the bridge, and the fences in it. */
  private List<String> calls(Class<?> of, String method) {
    List<String> found = new ArrayList<>();
    ClassFiles.read(rewritten(of), method, new Calling(found));
    return found;
  }

  private final class Calling extends MethodVisitor {
    private final List<String> found;

    Calling(List<String> found) {
      super(Rewriter.API);
      this.found = found;
    }

    @Override
    public void visitMethodInsn(
        int instruction, String of, String called, String shape, boolean isInterface) {
      if (of.startsWith(Bridge.NAME) || called.endsWith("Fence")) {
        found.add(shown(of, called));
      }
    }

    private String shown(String of, String called) {
      for (Class<?> one : List.of(Base.class, Sample.class, Published.class)) {
        Speculation.Speculated known = speculation.of(one.getName().replace('.', '/'));
        if (of.equals(Holder.nameOf(known.number()))) {
          return one.getSimpleName() + "." + called;
        }
      }
      return called;
    }
  }

  @Test
  void oneAccessHasACheckBeforeAndAGuardBehind() {
    assertEquals(List.of("Sample.check", "Sample.load"), calls(Sample.class, "once"));
  }

  @Test
  void severalAccessesOfThisHaveOneCheckForEachClass() {
    assertEquals(
        List.of(
            "Sample.check",
            "Sample.load",
            "Base.check",
            "Base.load",
            "Sample.store",
            "Sample.load",
            "Sample.store",
            "Sample.load"),
        calls(Sample.class, "often"));
  }

  @Test
  void anObjectThatMayBeAnotherIsAskedEachTime() {
    assertEquals(
        List.of(
            "Sample.check",
            "Sample.load",
            "Sample.check",
            "Sample.store",
            "Sample.check",
            "Sample.load"),
        calls(Sample.class, "branches"));
    List<String> ofOthers = calls(Sample.class, "others");
    assertEquals(
        ofOthers.stream().filter("Sample.check"::equals).count(),
        ofOthers.stream().filter(call -> call.matches("Sample.(load|store)")).count());
    assertTrue(ofOthers.contains("fullFence"));
  }

  @Test
  void aConstructorSaysWhoMadeTheObjectAndAsksNobody() {
    List<String> made = calls(Sample.class, "<init>");
    assertEquals("me", made.get(0));
    assertEquals(List.of(), made.stream().filter(call -> call.endsWith("check")).toList());
    assertTrue(made.contains("Sample.store"));
  }

  @Test
  void anObjectIsPrivateUntilItsConstructorPublishesIt() {
    assertEquals(
        List.of("me", "Published.privateStore", "fullFence", "Published.store"),
        calls(Published.class, "<init>"));
    byte[] rewritten = rewritten(Published.class);
    assertEquals(List.of(), unordered(rewritten));
    assertEquals(
        List.of(Published.class.getName() + ".<init>"),
        unordered(with(1, "privateStore", rewritten)));
  }

  @Test
  void aSwitchTakesTheCheckAwayAndPutsFencesIntoTheGuards() {
    assertEquals(
        Map.of(
            "check", List.of("me", "foreign"),
            "load", List.of(),
            "store", List.of(),
            "privateStore", List.of()),
        called(Holder.bytes(7, false)));
    assertEquals(
        Map.of(
            "check", List.of(),
            "load", List.of("acquireFence"),
            "store", List.of("fullFence"),
            "privateStore", List.of("releaseFence")),
        called(Holder.bytes(7, true)));
  }

  /** By method, the names of those that it calls. */
  private static Map<String, List<String>> called(byte[] holder) {
    ClassNode read = new ClassNode(Rewriter.API);
    new ClassReader(holder).accept(read, 0);
    Map<String, List<String>> called = new HashMap<>();
    for (MethodNode method : read.methods) {
      List<String> names = new ArrayList<>();
      method.instructions.forEach(
          one -> {
            if (one instanceof MethodInsnNode call) {
              names.add(call.name);
            }
          });
      called.put(method.name, names);
    }
    return called;
  }

  @Test
  void aCloneIsToldOf() {
    assertTrue(calls(Sample.class, "copied").contains("touched"));
  }

  /** Old code and hidden classes may name a class that cannot be looked up. */
  @Test
  void whereTheClassIsNotKnownTheObjectIsLookedAt() {
    byte[] bytes = rewritten(Sample.class, Offer.Origin.HIDDEN);
    assertEquals(List.of(), unordered(bytes));
    List<String> found = new ArrayList<>();
    ClassFiles.read(bytes, "ofTheJdk", new Calling(found));
    assertEquals(List.of("touched", "acquireFence"), found);
  }

  @Test
  void theJdksClassesHaveNoOwners() {
    assertNull(speculation.of("java/util/HashMap"));
    assertNull(speculation.of("javax/naming/Name"));
    assertNull(speculation.of("org/w3c/dom/Node"));
    String there = "org/example/There";
    speculation.leaveAlone(there);
    assertNull(speculation.of(there));
    assertTrue(Objects.nonNull(speculation.of("org/example/Later")));
  }

  @Test
  void theCheckerAcceptsItAndNotTheOriginal() {
    for (Class<?> one : List.of(Sample.class, Base.class, Computed.class, Rewriter.class)) {
      assertEquals(List.of(), unordered(rewritten(one)));
    }
    byte[] original = RewriterTest.bytesOf(Sample.class);
    assertNotEquals(List.of(), unordered(original));
  }

  /** Leaves out one call of a holder; the owner that a check would take is dropped. */
  private static byte[] without(byte[] rewritten, int which) {
    return with(which, null, rewritten);
  }

  /** Calls another method of a holder in one place, or none. */
  private static byte[] with(int which, String instead, byte[] rewritten) {
    int[] seen = {0};
    return ClassFiles.withCalls(
        rewritten,
        (call, method) -> {
          boolean ofHolder = call.owner().startsWith(Bridge.NAME + '$');
          if (!ofHolder || seen[0]++ != which) {
            call.writeTo(method);
          } else if (instead != null) {
            call.named(instead).writeTo(method);
          } else if (call.name().equals("check")) {
            method.visitInsn(Opcodes.POP2);
          }
        });
  }

  @Test
  void theCheckerFindsEachPlantedHole() {
    byte[] rewritten = rewritten(Sample.class);
    int all = 0;
    while (without(rewritten, all).length < rewritten.length) {
      assertNotEquals(List.of(), unordered(without(rewritten, all)), "call " + all);
      all++;
    }
    assertTrue(all > 30, all + " calls");
  }

  /** Has rewritten classes of this test, of the same names. */
  private final class Rewriting extends ClassLoader {
    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(SpeculatorTest.class.getName() + "$")) {
        return super.loadClass(name, resolve);
      }
      Class<?> known = findLoadedClass(name);
      if (known != null) {
        return known;
      }
      byte[] bytes = rewritten(Class.forName(name));
      return defineClass(name, bytes, 0, bytes.length);
    }
  }

  @ParameterizedTest
  @ValueSource(classes = {Sample.class, Computed.class})
  void aSerializedClassIsTheSameOne(Class<?> original) throws ClassNotFoundException {
    // The JVM verifies it, too.
    Class<?> made = Class.forName(original.getName(), true, new Rewriting());
    assertNotEquals(original, made);
    assertEquals(
        ObjectStreamClass.lookup(original).getSerialVersionUID(),
        ObjectStreamClass.lookup(made).getSerialVersionUID());
    String fields =
        List.of(ObjectStreamClass.lookup(made).getFields()).stream()
            .map(Object::toString)
            .collect(Collectors.joining(", "));
    assertTrue(!fields.contains("memgraft"), fields);
  }

  static List<String> unordered(byte[] rewritten) {
    return SpeculationChecker.unordered(rewritten, X86, KnownClasses.Facts.NONE);
  }
}
