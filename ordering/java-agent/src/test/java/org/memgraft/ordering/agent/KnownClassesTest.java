package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

class KnownClassesTest {
  static Object shared;

  /** Told apart by their parameters. */
  @SuppressWarnings("unused")
  static class Base {
    int field;

    Base() {
      field = 1;
    }

    Base(int byAnother) {
      this();
      field = byAnother;
    }

    Base(long givesItAway) {
      field = 1;
      shared = this;
    }

    Base(char byOneThatGivesItAway) {
      this(1L);
      field = 2;
    }

    Base(float onOneWay) {
      if (onOneWay > 1) {
        shared = this;
      }
    }

    Base(double inAHandler) {
      try {
        field = Integer.parseInt("1");
      } catch (NumberFormatException e) {
        shared = this;
      }
    }

    Base(boolean inALoop) {
      for (int i = 0; i < 2; i++) {
        field = i;
      }
    }
  }

  @SuppressWarnings("unused")
  static final class Derived extends Base {
    int own;

    Derived() {
      own = 1;
    }

    Derived(int byAnother) {
      super(byAnother);
      own = 1;
      shared = this;
      own = 2;
    }

    Derived(long givesItAway) {
      super(givesItAway);
      own = 1;
    }

    Derived(char byOneThatGivesItAway) {
      super(byOneThatGivesItAway);
      own = 1;
    }

    Derived(float onOneWay) {
      super(onOneWay);
      own = 1;
    }

    Derived(double inAHandler) {
      super(inAHandler);
      own = 1;
    }

    Derived(boolean inALoop) {
      super(inALoop);
      own = 1;
    }

    Derived(Object anotherOne) {
      new Derived().own = 1;
      own = 2;
    }
  }

  /** The outer object is stored before the other constructor is called. */
  @SuppressWarnings("unused")
  final class Inner extends Base {
    int own;

    Inner() {
      own = 1;
    }
  }

  private static final ClassLoader MINE = KnownClassesTest.class.getClassLoader();
  private static final Map<String, String> OF_BASE =
      Map.of(
          "<init>()V", "+",
          "<init>(I)V", "+",
          "<init>(J)V", "+",
          "<init>(C)V", "-",
          "<init>(D)V", "-",
          "<init>(Z)V", "+");
  private static final Map<String, String> OF_DERIVED =
      Map.of(
          "<init>()V", "+",
          "<init>(I)V", "+-",
          "<init>(J)V", "-",
          "<init>(C)V", "-",
          "<init>(F)V", "-",
          "<init>(D)V", "-",
          "<init>(Z)V", "+",
          "<init>(Ljava/lang/Object;)V", "-+");

  private static Offer offer(Class<?> of, ClassLoader loader) {
    return Offer.loaded(loader, RewriterTest.bytesOf(of));
  }

  private static KnownClasses.Facts known(KnownClasses to, Class<?> of, ClassLoader loader) {
    KnownClasses.Read read = to.read(offer(of, loader));
    read.publish();
    return read;
  }

  @Test
  void whatAnotherConstructorKeepsStaysPrivate() {
    KnownClasses classes = new KnownClasses(PrivateStores::keeps, true);
    assertEquals(OF_BASE, PrivateStoresTest.stores(Base.class, known(classes, Base.class, MINE)));
    assertEquals(
        OF_DERIVED, PrivateStoresTest.stores(Derived.class, known(classes, Derived.class, MINE)));
    String shape = "<init>(Lorg/memgraft/ordering/agent/KnownClassesTest;)V";
    assertEquals(
        "++", PrivateStoresTest.stores(Inner.class, known(classes, Inner.class, MINE)).get(shape));
  }

  /** The two ways to find out agree; the check does not take the rewriter's word. */
  @Test
  void theSearchAgrees() {
    KnownClasses rewriters = new KnownClasses(PrivateStores::keeps, true);
    KnownClasses checkers = new KnownClasses(EscapeSearch::keeps, false);
    for (Class<?> one : List.of(Base.class, Derived.class, Inner.class)) {
      Rewriter.Work work =
          Rewriter.Work.everything(RewriterTest.X86).trusting(known(rewriters, one, MINE));
      byte[] rewritten = Rewriter.rewrite(RewriterTest.bytesOf(one), work, new Sites());
      KnownClasses.Read read = checkers.read(Offer.loaded(MINE, rewritten));
      read.publish();
      assertEquals(List.of(), Checker.unfenced(rewritten, RewriterTest.X86, read));
      long trusting = Checker.unfenced(rewritten, RewriterTest.X86).size();
      assertEquals(one == Derived.class ? 4 : 1, trusting);
    }
  }

  @Test
  void aClassThatALoaderMayHaveOfItsOwnIsNotTrusted() throws Exception {
    KnownClasses classes = new KnownClasses(PrivateStores::keeps, true);
    known(classes, Base.class, MINE);
    try (URLClassLoader other = new URLClassLoader(new URL[0], MINE)) {
      assertEquals("-", storeOfDerived(classes, other));
      known(classes, Base.class, other);
      assertEquals("+", storeOfDerived(classes, other));
    }
  }

  @Test
  void loadersOfTheJdkAskTheirParents() {
    KnownClasses classes = new KnownClasses(PrivateStores::keeps, true);
    known(classes, Base.class, null);
    assertEquals("+", storeOfDerived(classes, null));
    assertEquals("+", storeOfDerived(classes, ClassLoader.getPlatformClassLoader()));
    assertEquals("+", storeOfDerived(classes, ClassLoader.getSystemClassLoader()));
    classes = new KnownClasses(PrivateStores::keeps, true);
    known(classes, Base.class, ClassLoader.getPlatformClassLoader());
    assertEquals("-", storeOfDerived(classes, null));
    assertEquals("+", storeOfDerived(classes, ClassLoader.getSystemClassLoader()));
  }

  @Test
  void classesOfTheJvmHaveOneMeaning() throws Exception {
    KnownClasses classes = new KnownClasses(PrivateStores::keeps, true);
    known(classes, java.util.AbstractCollection.class, null);
    known(classes, java.util.AbstractList.class, null);
    try (URLClassLoader other = new URLClassLoader(new URL[0], MINE)) {
      Map<String, String> stores =
          PrivateStoresTest.stores(
              java.util.ArrayList.class, known(classes, java.util.ArrayList.class, other));
      assertEquals("+", stores.get("<init>()V"));
    }
  }

  @SuppressWarnings("unused")
  static final class Constants {
    static final Object ONE = new Object();
    static Object changing;
    final int number;

    Constants(int number) {
      this.number = number;
    }
  }

  @SuppressWarnings("unused")
  static final class OfConstants {
    static Object read(Constants some) {
      return some.number == 1 ? Constants.ONE : Constants.changing;
    }
  }

  @Test
  void finalFieldsOfAClassThatIsKnownNeedNoFence() {
    KnownClasses rewriters = new KnownClasses(PrivateStores::keeps, true);
    KnownClasses checkers = new KnownClasses(EscapeSearch::keeps, false);
    for (int times = 0; times < 2; times++) {
      Sites sites = new Sites();
      Rewriter.Work work =
          Rewriter.Work.everything(RewriterTest.X86)
              .trusting(known(rewriters, OfConstants.class, MINE));
      byte[] rewritten = Rewriter.rewrite(RewriterTest.bytesOf(OfConstants.class), work, sites);
      assertEquals(1 - times, sites.of(Site.FIELD_LOAD));
      assertEquals(2 - times, sites.of(Site.STATIC_LOAD));
      KnownClasses.Facts facts = checkers.read(Offer.loaded(MINE, rewritten));
      assertEquals(List.of(), Checker.unfenced(rewritten, RewriterTest.X86, facts));
      assertEquals(List.of(), SpeculationChecker.unordered(rewritten, RewriterTest.X86, facts));
      assertEquals(2 * times, Checker.unfenced(rewritten, RewriterTest.X86).size());
      assertEquals(2 * times, SpeculatorTest.unordered(rewritten).size());
      known(rewriters, Constants.class, MINE);
      known(checkers, Constants.class, MINE);
    }
  }

  /** A class file of the same name that the JVM took no class from may have had it. */
  @Test
  void aFieldThatWasFinalMustGoOnBeingSo() {
    KnownClasses classes = new KnownClasses(PrivateStores::keeps, true);
    known(classes, Constants.class, MINE);
    KnownClasses.Read same = classes.read(offer(Constants.class, MINE));
    assertDoesNotThrow(same::publish);
    String name = Constants.class.getName().replace('.', '/');
    ClassWriter writer = new ClassWriter(0);
    writer.visit(Opcodes.V17, 0, name, null, "java/lang/Object", null);
    writer.visitField(Opcodes.ACC_STATIC, "ONE", "Ljava/lang/Object;", null, null).visitEnd();
    writer.visitEnd();
    KnownClasses.Read other = classes.read(Offer.loaded(MINE, writer.toByteArray()));
    assertThrows(IllegalStateException.class, other::publish);
  }

  private static String storeOfDerived(KnownClasses classes, ClassLoader loader) {
    KnownClasses.Facts facts = classes.read(offer(Derived.class, loader));
    return PrivateStoresTest.stores(Derived.class, facts).get("<init>()V");
  }

  @Test
  void aHiddenClassTrustsInNothing() {
    KnownClasses classes = new KnownClasses(PrivateStores::keeps, true);
    known(classes, Base.class, null);
    byte[] bytes = RewriterTest.bytesOf(Derived.class);
    KnownClasses.Read read = classes.read(new Offer(null, bytes, Offer.Origin.HIDDEN));
    read.publish();
    assertEquals("-", PrivateStoresTest.stores(Derived.class, read).get("<init>()V"));
  }

  /** Somebody else redefines it. */
  @Test
  void aConstructorThatOthersTrustInMustGoOnKeeping() {
    KnownClasses classes = new KnownClasses(PrivateStores::keeps, true);
    known(classes, Base.class, MINE);
    Offer again = new Offer(MINE, leaking(), Offer.Origin.AGAIN);
    assertDoesNotThrow(classes.read(again)::publish, "nobody has counted on it");
    known(classes, Base.class, MINE);
    PrivateStoresTest.stores(Derived.class, known(classes, Derived.class, MINE));
    KnownClasses.Read read = classes.read(again);
    assertThrows(IllegalStateException.class, read::publish);
  }

  /** Base with its first constructor, which gives the object away. */
  private static byte[] leaking() {
    String name = Base.class.getName().replace('.', '/');
    ClassWriter writer = new ClassWriter(0);
    writer.visit(Opcodes.V17, 0, name, null, "java/lang/Object", null);
    MethodVisitor method = writer.visitMethod(0, "<init>", "()V", null, null);
    method.visitCode();
    method.visitVarInsn(Opcodes.ALOAD, 0);
    method.visitMethodInsn(Opcodes.INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
    method.visitVarInsn(Opcodes.ALOAD, 0);
    method.visitFieldInsn(Opcodes.PUTSTATIC, name, "shared", "Ljava/lang/Object;");
    method.visitInsn(Opcodes.RETURN);
    method.visitMaxs(1, 1);
    method.visitEnd();
    writer.visitEnd();
    return writer.toByteArray();
  }

  /** The JVM takes such a class; it can make no object by it. */
  @Test
  void oneThatCallsItselfDoesNotKeep() {
    String name = "Recursive";
    ClassWriter writer = new ClassWriter(0);
    writer.visit(Opcodes.V17, 0, name, null, "java/lang/Object", null);
    MethodVisitor method = writer.visitMethod(0, "<init>", "()V", null, null);
    method.visitCode();
    method.visitVarInsn(Opcodes.ALOAD, 0);
    method.visitMethodInsn(Opcodes.INVOKESPECIAL, name, "<init>", "()V", false);
    method.visitInsn(Opcodes.RETURN);
    method.visitMaxs(1, 1);
    method.visitEnd();
    writer.visitEnd();
    KnownClasses classes = new KnownClasses(PrivateStores::keeps, true);
    KnownClasses.Facts facts = classes.read(Offer.loaded(null, writer.toByteArray()));
    assertEquals(false, facts.keeps(name, "()V"));
  }
}
