package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

class TransformerTest {
  private final Transformer transformer = everything(true);

  /** One that puts fences everywhere. */
  static Transformer everything(boolean check) {
    return new Transformer(
        check ? rewritten -> Checker.unfenced(rewritten.bytes(), RewriterTest.X86) : null,
        true,
        Treatment.fences(Subset.ALL, false, new Hierarchy()));
  }

  private byte[] transformed(String name, byte[] bytes) {
    return transformer.transform(null, name, null, null, bytes);
  }

  @Test
  void countsWhatItDoes() {
    assertNotNull(transformed("Sample", RewriterTest.bytesOf(Sample.class)));
    assertEquals(1, transformer.classes());
    assertEquals(1, transformer.checked());
    assertTrue(transformer.sites().of(Site.FIELD_STORE) > 0);
    assertEquals(0, transformer.unfenced().count() + transformer.failed().count());
  }

  @Test
  void knowsAClassThatIsDefinedWithoutAName() {
    transformed(null, RewriterTest.bytesOf(java.util.HashMap.class));
    assertTrue(transformer.hasSeen("java.util.HashMap"));
    transformed(null, new byte[3]);
    assertEquals(1, transformer.failed().count());
  }

  @Test
  void leavesTheAgentAlone() {
    String own = "org/memgraft/ordering/agent/Rewriter";
    assertNull(transformed(own, RewriterTest.bytesOf(Rewriter.class)));
    assertEquals(0, transformer.classes());
  }

  @Test
  void namesAClassFileOfTheFuture() {
    byte[] bytes = RewriterTest.bytesOf(Sample.class);
    bytes[7] = 99;
    assertNull(transformed("org/example/Tomorrow", bytes));
    assertEquals(1, transformer.failed().count());
    assertTrue(transformer.failed().some().get("org.example.Tomorrow").contains("version 99"));
  }

  /** So many accesses that their fences do not fit into a method. */
  @Test
  void namesAMethodThatGrowsTooLarge() {
    ClassWriter writer = new ClassWriter(0);
    writer.visit(Opcodes.V17, 0, "Large", null, "java/lang/Object", null);
    MethodVisitor code = writer.visitMethod(Opcodes.ACC_STATIC, "all", "()V", null, null);
    code.visitCode();
    for (int i = 0; i < 12_000; i++) {
      code.visitFieldInsn(Opcodes.GETSTATIC, "Large", "field", "I");
      code.visitInsn(Opcodes.POP);
    }
    code.visitInsn(Opcodes.RETURN);
    code.visitMaxs(1, 0);
    code.visitEnd();
    assertNull(transformed("Large", writer.toByteArray()));
    assertEquals(Map.of("Large", "Method too large: Large.all ()V"), reasons());
  }

  private Map<String, String> reasons() {
    return transformer.failed().some().entrySet().stream()
        .collect(
            java.util.stream.Collectors.toMap(
                Map.Entry::getKey, entry -> entry.getValue().replaceFirst("^[^:]*: ", "")));
  }

  /** Bytes that are no class any more must neither stop it nor pass it unseen. */
  @ParameterizedTest
  @ValueSource(strings = {"fences", "watching", "weakening", "speculating"})
  void namesWhatIsNoClassFile(String treatment) {
    Hierarchy hierarchy = new Hierarchy();
    Transformer transformer =
        switch (treatment) {
          case "fences" -> everything(true);
          case "watching" ->
              new Transformer(null, true, Treatment.watching(hierarchy, new Touches()));
          case "speculating" ->
              new Transformer(
                  rewritten -> SpeculatorTest.unordered(rewritten.bytes()),
                  true,
                  Treatment.speculating(new Speculation(false, hierarchy), hierarchy));
          default ->
              new Transformer(
                  null, true, Treatment.weakening(Subset.ALL, hierarchy, new WeakMemory(1)));
        };
    byte[] original = RewriterTest.bytesOf(Sample.class);
    byte[] kept = original.clone();
    Random random = new Random(1);
    int tries = 2000;
    for (int i = 0; i < tries; i++) {
      byte[] mutated = original.clone();
      for (int change = random.nextInt(4); change >= 0; change--) {
        mutated[random.nextInt(mutated.length)] = (byte) random.nextInt();
      }
      transformer.transform(getClass().getClassLoader(), "Mutated" + i, null, null, mutated);
    }
    assertArrayEquals(kept, original);
    assertEquals(tries, transformer.classes() + transformer.failed().count());
    assertTrue(transformer.failed().count() > tries / 20);
    // In code that no JVM would accept, an object may be `this` for the one and not for the other.
    assertTrue(transformer.unfenced().count() <= (treatment.equals("speculating") ? 1 : 0));
    assertTrue(transformer.failed().some().size() <= 20);
  }

  @Test
  void leavesTheJdkAloneWhereOnlyClassesOfTheProgramAreNamed() {
    ClassLoader ours = getClass().getClassLoader();
    byte[] bytes = RewriterTest.bytesOf(java.util.HashMap.class);
    Hierarchy hierarchy = new Hierarchy();
    Subset named = Subset.of(java.util.List.of("org.example.*"), "a test", hierarchy);
    Transformer few =
        new Transformer(null, named.reachesTheJdk(), Treatment.fences(named, false, hierarchy));
    assertNull(few.transform(null, "java/util/HashMap", null, null, bytes));
    assertNull(few.transform(ours, "jdk/jfr/Event", null, null, bytes));
    assertNotNull(few.transform(ours, "org/example/HashMap", null, null, bytes));
    Subset more = Subset.of(java.util.List.of("java.util.HashMap.size"), "a test", hierarchy);
    Transformer ofTheJdk =
        new Transformer(null, more.reachesTheJdk(), Treatment.fences(more, false, hierarchy));
    assertNotNull(ofTheJdk.transform(null, "java/util/HashMap", null, null, bytes));
    assertTrue(ofTheJdk.sites().of(Site.FIELD_LOAD) > 0);
    assertEquals(0, few.sites().of(Site.FIELD_LOAD));
  }
}
