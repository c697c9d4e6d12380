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

class ConstructorsTest {
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

  /** The inner object is stored into the outer one's class before the other constructor runs. */
  @SuppressWarnings("unused")
  final class Inner extends Base {
    int own;

    Inner() {
      own = 1;
    }
  }

  private static final ClassLoader MINE = ConstructorsTest.class.getClassLoader();
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

  private static Constructors.Kept known(Constructors to, Class<?> of, ClassLoader loader) {
    Constructors.Read read = to.read(offer(of, loader));
    read.publish();
    return read.kept();
  }

  @Test
  void whatAnotherConstructorKeepsStaysPrivate() {
    Constructors constructors = new Constructors(PrivateStores::keeps);
    assertEquals(
        OF_BASE, PrivateStoresTest.stores(Base.class, known(constructors, Base.class, MINE)));
    assertEquals(
        OF_DERIVED,
        PrivateStoresTest.stores(Derived.class, known(constructors, Derived.class, MINE)));
    String shape = "<init>(Lorg/memgraft/ordering/agent/ConstructorsTest;)V";
    assertEquals(
        "++",
        PrivateStoresTest.stores(Inner.class, known(constructors, Inner.class, MINE)).get(shape));
  }

  /** The two ways to find out agree; the check does not take the rewriter's word. */
  @Test
  void theSearchAgrees() {
    Constructors rewriters = new Constructors(PrivateStores::keeps);
    Constructors checkers = new Constructors(EscapeSearch::keeps);
    for (Class<?> one : List.of(Base.class, Derived.class, Inner.class)) {
      Rewriter.Work work =
          Rewriter.Work.everything(RewriterTest.X86).trusting(known(rewriters, one, MINE));
      byte[] rewritten = Rewriter.rewrite(RewriterTest.bytesOf(one), work, new Sites());
      Constructors.Read read = checkers.read(Offer.loaded(MINE, rewritten));
      read.publish();
      assertEquals(List.of(), Checker.unfenced(rewritten, RewriterTest.X86, read.kept()));
      long trusting = Checker.unfenced(rewritten, RewriterTest.X86).size();
      assertEquals(one == Base.class ? 1 : one == Derived.class ? 4 : 1, trusting);
    }
  }

  @Test
  void aClassThatALoaderMayHaveOfItsOwnIsNotTrusted() throws Exception {
    Constructors constructors = new Constructors(PrivateStores::keeps);
    known(constructors, Base.class, MINE);
    try (URLClassLoader other = new URLClassLoader(new URL[0], MINE)) {
      assertEquals("-", storeOfDerived(constructors, other));
      known(constructors, Base.class, other);
      assertEquals("+", storeOfDerived(constructors, other));
    }
  }

  @Test
  void loadersOfTheJdkAskTheirParents() {
    Constructors constructors = new Constructors(PrivateStores::keeps);
    known(constructors, Base.class, null);
    assertEquals("+", storeOfDerived(constructors, null));
    assertEquals("+", storeOfDerived(constructors, ClassLoader.getPlatformClassLoader()));
    assertEquals("+", storeOfDerived(constructors, ClassLoader.getSystemClassLoader()));
    constructors = new Constructors(PrivateStores::keeps);
    known(constructors, Base.class, ClassLoader.getPlatformClassLoader());
    assertEquals("-", storeOfDerived(constructors, null));
    assertEquals("+", storeOfDerived(constructors, ClassLoader.getSystemClassLoader()));
  }

  @Test
  void classesOfTheJvmHaveOneMeaning() throws Exception {
    Constructors constructors = new Constructors(PrivateStores::keeps);
    known(constructors, java.util.AbstractCollection.class, null);
    known(constructors, java.util.AbstractList.class, null);
    try (URLClassLoader other = new URLClassLoader(new URL[0], MINE)) {
      Map<String, String> stores =
          PrivateStoresTest.stores(
              java.util.ArrayList.class, known(constructors, java.util.ArrayList.class, other));
      assertEquals("+", stores.get("<init>()V"));
    }
  }

  private static String storeOfDerived(Constructors constructors, ClassLoader loader) {
    Constructors.Kept kept = constructors.read(offer(Derived.class, loader)).kept();
    return PrivateStoresTest.stores(Derived.class, kept).get("<init>()V");
  }

  @Test
  void aHiddenClassTrustsInNothing() {
    Constructors constructors = new Constructors(PrivateStores::keeps);
    known(constructors, Base.class, null);
    byte[] bytes = RewriterTest.bytesOf(Derived.class);
    Constructors.Read read = constructors.read(new Offer(null, bytes, Offer.Origin.HIDDEN));
    read.publish();
    assertEquals("-", PrivateStoresTest.stores(Derived.class, read.kept()).get("<init>()V"));
  }

  /** Somebody else redefines it. */
  @Test
  void aConstructorThatOthersTrustInMustGoOnKeeping() {
    Constructors constructors = new Constructors(PrivateStores::keeps);
    known(constructors, Base.class, MINE);
    Offer again = new Offer(MINE, leaking(), Offer.Origin.AGAIN);
    assertDoesNotThrow(constructors.read(again)::publish, "nobody has counted on it");
    known(constructors, Base.class, MINE);
    PrivateStoresTest.stores(Derived.class, known(constructors, Derived.class, MINE));
    Constructors.Read read = constructors.read(again);
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
    Constructors constructors = new Constructors(PrivateStores::keeps);
    Constructors.Kept kept = constructors.read(Offer.loaded(null, writer.toByteArray())).kept();
    assertEquals(false, kept.keeps(name, "()V"));
  }
}
