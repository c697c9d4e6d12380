package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

class IntrinsicsTest {
  /** They take arrays, and touch nothing in them that another thread writes. */
  private static final Set<String> HARMLESS =
      Set.of(
          // Its own argument list; what it calls is rewritten.
          "java/lang/reflect/Method.invoke",
          // The thread's own cache.
          "java/lang/Thread.setScopedValueCache",
          // Counts for the compiler.
          "java/lang/invoke/MethodHandleImpl.profileBoolean");

  @ParameterizedTest
  @CsvSource({
    "java/lang/ref/WeakReference, get, ()Ljava/lang/Object;, ACQUIRE",
    "java/lang/ref/Reference, clear0, ()V, FULL",
    "java/util/Arrays, equals, ([I[I)Z, ACQUIRE",
    "jdk/internal/util/ArraysSupport, vectorizedMismatch, (Ljava/lang/Object;J)I, ACQUIRE",
    "java/lang/StringLatin1, inflate, ([BI[CII)V, FULL",
    "java/lang/StringLatin1, indexOf, ([B[B)I, ACQUIRE",
    "java/lang/StringCoding, implEncodeISOArray, ([BI[BII)I, FULL",
    "sun/security/provider/SHA2, implCompress, ([BI)V, FULL",
    "com/sun/crypto/provider/AESCrypt, encryptBlock, ([BI[BI)V, FULL",
  })
  void aCallGetsAFence(String owner, String name, String shape, Fence fence) {
    assertEquals(fence, Intrinsics.of(owner, name, shape));
  }

  @ParameterizedTest
  @CsvSource({
    "java/util/Arrays, sort, ([I)V",
    "sun/security/provider/SHA2, implReset, ()V",
    "java/util/ArrayList, get, (I)Ljava/lang/Object;",
  })
  void othersGetNone(String owner, String name, String shape) {
    assertNull(Intrinsics.of(owner, name, shape));
  }

  /** By the annotation that the JDK's own sources put on them. */
  @Test
  void noneOfThisJdkThatTakesAnArrayIsForgotten() throws IOException {
    List<String> forgotten = new ArrayList<>();
    int[] seen = {0};
    try (Stream<Path> files =
        Files.walk(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules"))) {
      for (Path file :
          (Iterable<Path>) files.filter(path -> path.toString().endsWith(".class"))::iterator) {
        new ClassReader(Files.readAllBytes(file))
            .accept(
                new ClassVisitor(Rewriter.API) {
                  private String owner;

                  @Override
                  public void visit(
                      int version,
                      int access,
                      String name,
                      String signature,
                      String parent,
                      String[] more) {
                    owner = name;
                  }

                  @Override
                  public MethodVisitor visitMethod(
                      int access,
                      String name,
                      String shape,
                      String signature,
                      String[] exceptions) {
                    return new MethodVisitor(Opcodes.ASM9) {
                      @Override
                      public AnnotationVisitor visitAnnotation(String annotation, boolean visible) {
                        if (annotation.endsWith("/IntrinsicCandidate;") && takesArray(shape)) {
                          seen[0]++;
                          if (isForgotten(owner, name, shape)) {
                            forgotten.add(owner + '.' + name + shape);
                          }
                        }
                        return null;
                      }
                    };
                  }
                },
                ClassReader.SKIP_CODE);
      }
    }
    assertTrue(seen[0] > 80);
    assertEquals(List.of(), forgotten);
  }

  private static boolean takesArray(String shape) {
    return shape.substring(0, shape.indexOf(')')).contains("[");
  }

  private static boolean isForgotten(String owner, String name, String shape) {
    // Handles' own, which have the order that their names say.
    boolean handle = owner.startsWith("java/lang/invoke/") && owner.endsWith("Handle");
    return !handle
        && !HARMLESS.contains(owner + '.' + name)
        && Calls.of(owner, name, shape, RewriterTest.X86) == null;
  }
}
