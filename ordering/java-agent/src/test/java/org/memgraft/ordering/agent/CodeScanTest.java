package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.memgraft.ordering.agent.CodeScan.Content;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

class CodeScanTest {
  private static List<Content> scanned(byte[] file) {
    return CodeScan.of(new ClassReader(file), RewriterTest.X86).methods();
  }

  /** The same by what ASM reads. */
  private static List<Content> read(byte[] file) {
    List<Content> contents = new ArrayList<>();
    new ClassReader(file)
        .accept(
            new ClassVisitor(Rewriter.API) {
              @Override
              public MethodVisitor visitMethod(
                  int access, String name, String shape, String signature, String[] thrown) {
                return new Reading(name, contents);
              }
            },
            ClassReader.SKIP_FRAMES);
    return contents;
  }

  private static final class Reading extends MethodVisitor {
    private final boolean constructs;
    private final List<Content> contents;
    private boolean something;
    private boolean makesArray;
    private boolean storesField;
    private boolean storesElement;

    Reading(String name, List<Content> contents) {
      super(Rewriter.API);
      constructs = name.equals("<init>");
      this.contents = contents;
    }

    @Override
    public void visitFieldInsn(int instruction, String owner, String name, String shape) {
      something = true;
      storesField |= instruction == Opcodes.PUTFIELD;
    }

    @Override
    public void visitInsn(int instruction) {
      storesElement |= PrivateStores.isStore(instruction);
      something |= instruction >= Opcodes.IALOAD && instruction <= Opcodes.SALOAD;
    }

    @Override
    public void visitIntInsn(int instruction, int operand) {
      makesArray |= instruction == Opcodes.NEWARRAY;
    }

    @Override
    public void visitTypeInsn(int instruction, String type) {
      makesArray |= instruction == Opcodes.ANEWARRAY;
    }

    @Override
    public void visitMultiANewArrayInsn(String shape, int dimensions) {
      makesArray = true;
    }

    @Override
    public void visitMethodInsn(
        int instruction, String owner, String name, String shape, boolean isInterface) {
      something |= Calls.of(owner, name, shape, RewriterTest.X86) != null;
    }

    @Override
    public void visitInvokeDynamicInsn(
        String name, String shape, Handle bootstrap, Object... arguments) {
      something = true;
    }

    @Override
    public void visitEnd() {
      boolean privates = constructs ? storesField || storesElement : makesArray && storesElement;
      boolean some = something || storesElement;
      contents.add(privates ? Content.PRIVATE_STORES : some ? Content.SOMETHING : Content.NOTHING);
    }
  }

  /** All of java.base. */
  private static void forEachOfTheJdk(Consumer<byte[]> test) throws IOException {
    try (Stream<Path> files =
        Files.walk(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules/java.base"))) {
      for (Path file : (Iterable<Path>) files::iterator) {
        String name = file.getFileName().toString();
        if (name.endsWith(".class") && !name.equals("module-info.class")) {
          test.accept(Files.readAllBytes(file));
        }
      }
    }
  }

  @Test
  void itSeesWhatAsmReads() throws IOException {
    Map<Content, Integer> seen = new EnumMap<>(Content.class);
    forEachOfTheJdk(
        file -> {
          List<Content> contents = scanned(file);
          assertEquals(read(file), contents, () -> new ClassReader(file).getClassName());
          contents.forEach(content -> seen.merge(content, 1, Integer::sum));
        });
    for (Content content : Content.values()) {
      assertTrue(seen.get(content) > 1000, seen.toString());
    }
  }

  /** Whoever reads every method with everything in it makes the same class of it. */
  @Test
  void whatIsCopiedNeedsNoFence() throws IOException {
    Rewriter.Work work = Rewriter.Work.everything(RewriterTest.X86);
    forEachOfTheJdk(
        file -> {
          ClassReader reader = new ClassReader(file);
          Sites expected = new Sites();
          Sites sites = new Sites();
          byte[] whole = Rewriter.rewrite(reader, work, expected, CodeScan.UNKNOWN);
          byte[] rewritten = Rewriter.rewrite(file, work, sites);
          assertArrayEquals(
              writtenAnew(whole), writtenAnew(rewritten), () -> reader.getClassName());
          for (Site site : Site.values()) {
            assertEquals(expected.of(site), sites.of(site), () -> reader.getClassName());
          }
        });
  }

  /** With its constants in another order: what is copied keeps that of the original. */
  private static byte[] writtenAnew(byte[] file) {
    ClassWriter writer = new ClassWriter(0);
    new ClassReader(file).accept(writer, 0);
    return writer.toByteArray();
  }

  /** A load behind whatever has a length of its own, at each of the four places in a word. */
  private static byte[] withLoadBehind(int fill, boolean table, boolean loads) {
    ClassWriter writer = new ClassWriter(0);
    writer.visit(Opcodes.V1_5, 0, "Switching", null, "java/lang/Object", null);
    MethodVisitor method = writer.visitMethod(Opcodes.ACC_STATIC, "choose", "(I)I", null, null);
    method.visitCode();
    for (int i = 0; i < fill; i++) {
      method.visitInsn(Opcodes.NOP);
    }
    // Wide.
    method.visitVarInsn(Opcodes.ILOAD, 300);
    method.visitIincInsn(300, 1);
    Label end = new Label();
    Label[] labels = {end, end, end};
    if (table) {
      // Its operands, taken for instructions, would be loads.
      int some = Opcodes.GETSTATIC << 24 | Opcodes.IALOAD << 8;
      method.visitTableSwitchInsn(some, some + 2, end, labels);
    } else {
      method.visitLookupSwitchInsn(end, new int[] {Opcodes.GETFIELD, 1000, 2000}, labels);
    }
    method.visitLabel(end);
    if (loads) {
      method.visitFieldInsn(Opcodes.GETSTATIC, "Switching", "field", "I");
    } else {
      method.visitInsn(Opcodes.ICONST_0);
    }
    method.visitInsn(Opcodes.IRETURN);
    method.visitMaxs(1, 301);
    method.visitEnd();
    writer.visitEnd();
    return writer.toByteArray();
  }

  @Test
  void instructionsOfEachLengthArePassed() {
    for (int fill = 0; fill < 4; fill++) {
      for (boolean table : new boolean[] {true, false}) {
        assertEquals(List.of(Content.SOMETHING), scanned(withLoadBehind(fill, table, true)));
        assertEquals(List.of(Content.NOTHING), scanned(withLoadBehind(fill, table, false)));
      }
    }
  }

  /** Then every method is read by ASM, and the JVM says what is wrong. */
  @Test
  void ofABrokenFileNothingIsSaid() {
    byte[] whole = withLoadBehind(0, true, true);
    assertEquals(1, scanned(whole).size());
    byte[] unknown = whole.clone();
    for (int i = 0; i < unknown.length - 1; i++) {
      if ((unknown[i] & 0xff) == Opcodes.GETSTATIC && unknown[i + 1] == 0) {
        unknown[i] = (byte) 250;
      }
    }
    assertNull(scanned(unknown));
    int broken = 0;
    for (int length = whole.length - 1; length > 0; length--) {
      byte[] part = Arrays.copyOf(whole, length);
      try {
        broken += scanned(part) == null ? 1 : 0;
      } catch (RuntimeException e) {
        // ASM's own, where it reads the constants.
        continue;
      }
    }
    assertTrue(broken > 10);
    assertEquals(Content.PRIVATE_STORES, CodeScan.UNKNOWN.of(0));
  }
}
