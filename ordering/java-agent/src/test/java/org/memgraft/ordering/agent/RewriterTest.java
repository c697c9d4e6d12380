package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

class RewriterTest {
  static final Machine X86 = new Machine("amd64");
  static final Machine ARM = new Machine("aarch64");

  static byte[] bytesOf(Class<?> known) {
    String file = known.getName().substring(known.getPackageName().length() + 1) + ".class";
    try (InputStream bytes = known.getResourceAsStream(file)) {
      return bytes.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Has rewritten classes of this package, of the same names. */
  private static final class Rewriting extends ClassLoader {
    private final Sites sites = new Sites();

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(Sample.class.getName())) {
        return super.loadClass(name, resolve);
      }
      Class<?> known = findLoadedClass(name);
      if (known != null) {
        return known;
      }
      byte[] bytes =
          Rewriter.rewrite(bytesOf(Class.forName(name)), Rewriter.Work.everything(X86), sites);
      return defineClass(name, bytes, 0, bytes.length);
    }
  }

  @Test
  void aRewrittenProgramDoesTheSame() throws ReflectiveOperationException {
    Class<?> rewritten = new Rewriting().loadClass(Sample.class.getName());
    IntSupplier its = (IntSupplier) rewritten.getConstructor().newInstance();
    assertEquals(new Sample().getAsInt(), its.getAsInt());
  }

  @Test
  void everyKindOfSiteHasAFence() {
    Sites sites = new Sites();
    Rewriter.rewrite(bytesOf(Sample.class), Rewriter.Work.everything(X86), sites);
    for (Site site : Site.values()) {
      assertTrue(sites.of(site) > 0, site.toString());
    }
  }

  @Test
  void theCheckerSeesWhetherTheyAreThere() {
    byte[] original = bytesOf(Sample.class);
    assertTrue(Checker.unfenced(original, X86).contains(Sample.class.getName() + ".getAsInt"));
    assertEquals(
        List.of(),
        Checker.unfenced(
            Rewriter.rewrite(original, Rewriter.Work.everything(X86), new Sites()), X86));
  }

  /** Puts another fence, or none, in the place of one. */
  private static byte[] with(String instead, byte[] rewritten, int which) {
    int[] seen = {0};
    return ClassFiles.withCalls(
        rewritten,
        (call, method) -> {
          boolean meant = call.name().endsWith("Fence") && seen[0]++ == which;
          if (!meant) {
            call.writeTo(method);
          } else if (instead != null) {
            call.named(instead).writeTo(method);
          }
        });
  }

  /** Those behind calls are not the checker's. */
  @Test
  void theCheckerFindsAPlantedHole() {
    Sites sites = new Sites();
    byte[] rewritten =
        Rewriter.rewrite(bytesOf(Sample.class), Rewriter.Work.everything(X86), sites);
    int all = 0;
    int found = 0;
    while (with(null, rewritten, all).length < rewritten.length) {
      found += Checker.unfenced(with(null, rewritten, all), X86).size();
      all++;
    }
    long byInstruction = 0;
    for (Site site : Site.values()) {
      byInstruction += site.ordinal() <= Site.PRIVATE_STORE.ordinal() ? sites.of(site) : 0;
    }
    assertTrue(byInstruction > 20);
    assertEquals(byInstruction, found);
    int released = 0;
    for (int i = 0; i < all; i++) {
      released += Checker.unfenced(with("releaseFence", rewritten, i), X86).size();
    }
    assertEquals(byInstruction - sites.of(Site.PRIVATE_STORE), released);
  }

  @Test
  void aVolatileFieldOfItsOwnIsInOrderAlready() {
    Sites sites = new Sites();
    Rewriter.rewrite(bytesOf(Volatile.class), Rewriter.Work.everything(X86), sites);
    assertEquals(0, sites.of(Site.FIELD_LOAD) + sites.of(Site.FIELD_STORE));
  }

  @Test
  void aFinalFieldOfItsOwnDoesNotChange() {
    Sites sites = new Sites();
    byte[] rewritten = Rewriter.rewrite(bytesOf(Final.class), Rewriter.Work.everything(X86), sites);
    // That of the other object, whose class is another one.
    assertEquals(1, sites.of(Site.FIELD_LOAD));
    assertEquals(0, sites.of(Site.STATIC_LOAD));
    assertEquals(1, sites.of(Site.STATIC_STORE));
    assertEquals(List.of(), Checker.unfenced(rewritten, X86));
    assertEquals(1, Checker.unfenced(with(null, rewritten, 0), X86).size());
  }

  static final class Final {
    static final Object ONE = new Object();
    final Object own;

    Final(Object own) {
      this.own = own;
    }

    boolean isOwn() {
      return own == ONE;
    }

    static Object of(Other other) {
      return other.others;
    }
  }

  static final class Other {
    final Object others = new Object();
  }

  /** Before version 53 of class files any method could, and javac let none. */
  @Test
  void aFinalFieldThatAMethodStoresDoesChange() {
    for (int version : new int[] {Opcodes.V1_8, Opcodes.V9}) {
      Sites sites = new Sites();
      byte[] original = changing(version);
      byte[] rewritten = Rewriter.rewrite(original, Rewriter.Work.everything(X86), sites);
      boolean old = version == Opcodes.V1_8;
      assertEquals(old ? 1 : 0, sites.of(Site.STATIC_LOAD));
      if (old) {
        assertEquals(List.of(), Checker.unfenced(rewritten, X86));
        // Its store is first.
        assertEquals(List.of("Changing.change"), Checker.unfenced(with(null, rewritten, 1), X86));
        assertEquals(List.of(), SpeculatorTest.unordered(rewritten));
        assertEquals(
            List.of("Changing.change"), SpeculatorTest.unordered(with(null, rewritten, 1)));
      }
    }
  }

  private static byte[] changing(int version) {
    ClassWriter writer = new ClassWriter(0);
    writer.visit(version, 0, "Changing", null, "java/lang/Object", null);
    int access = Opcodes.ACC_STATIC | Opcodes.ACC_FINAL;
    writer.visitField(access, "field", "I", null, null).visitEnd();
    // Another class's of this name is stored, too.
    writer.visitField(access, "other", "I", null, null).visitEnd();
    MethodVisitor method = writer.visitMethod(Opcodes.ACC_STATIC, "change", "()V", null, null);
    method.visitCode();
    method.visitInsn(Opcodes.ICONST_1);
    method.visitFieldInsn(Opcodes.PUTSTATIC, "Changing", "field", "I");
    method.visitFieldInsn(Opcodes.GETSTATIC, "Changing", "field", "I");
    method.visitFieldInsn(Opcodes.PUTSTATIC, "Another", "other", "I");
    method.visitFieldInsn(Opcodes.GETSTATIC, "Changing", "other", "I");
    method.visitInsn(Opcodes.POP);
    method.visitInsn(Opcodes.RETURN);
    method.visitMaxs(1, 0);
    method.visitEnd();
    writer.visitEnd();
    return writer.toByteArray();
  }

  /** There a plain load may be done before an earlier volatile store (stlr). */
  @Test
  void onArmAVolatileStoreHasAFenceAllTheSame() {
    Sites sites = new Sites();
    byte[] forX86 =
        Rewriter.rewrite(bytesOf(Volatile.class), Rewriter.Work.everything(X86), new Sites());
    byte[] rewritten =
        Rewriter.rewrite(bytesOf(Volatile.class), Rewriter.Work.everything(ARM), sites);
    assertEquals(0, sites.of(Site.FIELD_LOAD));
    assertEquals(1, sites.of(Site.FIELD_STORE));
    assertEquals(List.of(), Checker.unfenced(rewritten, ARM));
    assertEquals(1, Checker.unfenced(forX86, ARM).size());
  }

  static final class Volatile {
    volatile int field;

    int next() {
      return field++;
    }
  }

  @Test
  void aFenceHasNoFences() throws IOException {
    assertTrue(Rewriter.isFence("java/lang/invoke/VarHandle", "storeStoreFence"));
    assertFalse(Rewriter.isFence("java/lang/invoke/VarHandle", "get"));
    assertFalse(Rewriter.isFence("org/example/Garden", "paintFence"));
  }

  /** All of java.base: whatever javac makes of Java is in it. */
  @Test
  void theJdkIsRewrittenWithoutAHole() throws IOException {
    FileSystem jdk = FileSystems.getFileSystem(URI.create("jrt:/"));
    int classes = 0;
    Sites sites = new Sites();
    try (Stream<Path> files = Files.walk(jdk.getPath("modules", "java.base"))) {
      for (Path file : (Iterable<Path>) files::iterator) {
        String name = file.getFileName().toString();
        if (name.endsWith(".class") && !name.equals("module-info.class")) {
          byte[] rewritten =
              Rewriter.rewrite(Files.readAllBytes(file), Rewriter.Work.everything(X86), sites);
          assertEquals(List.of(), Checker.unfenced(rewritten, X86), file.toString());
          classes++;
        }
      }
    }
    assertTrue(classes > 5000);
    assertTrue(sites.of(Site.WEAK_ACCESS) > 1000);
  }
}
