package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Code that runs while a class is rewritten links no lambda: neither one of its own, nor one in a
 * method of the JDK that it calls. The JVM makes a hidden class for it, which is rewritten first,
 * which links the same lambda again, and so on to the end of the stack. (A lambda of the JDK's that
 * was linked before is linked again once its class has been retransformed.)
 */
class LinkingTest {
  /**
   * Classes whose code runs before and after, and in the program's own threads; and what weakens
   * memory, which leaves the JDK's classes and hidden ones as they are.
   */
  private static final Set<String> OTHERS =
      Set.of(
          "Agent",
          "AgentOptions",
          "Bridge",
          "Coverage",
          "Premain",
          "Summary",
          "WeakCode",
          "WeakMemory");

  private static final Set<String> OTHER_METHODS =
      Set.of(
          "Machine.isHotSpot",
          "Speculation.open",
          "Subset$Form.<clinit>",
          "Subset.of",
          "Subset.reachesTheJdk",
          "Subset.unmatched",
          "Touches.done",
          "Touches$Spot.done",
          "Touches$Visitor.done",
          "Transformer.<init>",
          "Treatment.fences",
          "Treatment.speculating",
          "Treatment.watching",
          "Treatment.weakening");

  /** Methods of String that take a regular expression or a format. */
  private static final Set<String> OF_STRINGS =
      Set.of("format", "formatted", "lines", "matches", "replaceAll", "replaceFirst", "split");

  @Test
  void whatRunsWhileAClassIsRewrittenLinksNothing() throws Exception {
    List<String> found = new ArrayList<>();
    for (ClassNode read : ownClasses()) {
      String name = read.name.substring(read.name.lastIndexOf('/') + 1);
      if (!OTHERS.contains(name.replaceFirst("\\$.*", ""))) {
        for (MethodNode method : read.methods) {
          boolean isOther = OTHER_METHODS.contains(name + '.' + method.name);
          if (!isOther && links(method)) {
            found.add(name + '.' + method.name);
          }
        }
      }
    }
    assertEquals(List.of(), found);
  }

  /** What the test looks for, in some code that has it. */
  static final class Linking {
    boolean stream(List<String> names) {
      return names.stream().count() > 0;
    }

    Runnable lambda() {
      return () -> {};
    }

    boolean expression(String name) {
      return name.matches("a*");
    }

    boolean nothing(List<String> names) {
      return names.contains("a");
    }
  }

  @Test
  void findsCodeThatDoes() {
    List<String> found = new ArrayList<>();
    for (MethodNode method : read(RewriterTest.bytesOf(Linking.class)).methods) {
      if (links(method)) {
        found.add(method.name);
      }
    }
    assertEquals(List.of("stream", "lambda", "expression"), found);
  }

  private static boolean links(MethodNode method) {
    for (AbstractInsnNode instruction : method.instructions) {
      if (instruction instanceof InvokeDynamicInsnNode dynamic) {
        // A record's hashCode, equals and toString: nobody calls them.
        if (!dynamic.bsm.getOwner().equals("java/lang/runtime/ObjectMethods")) {
          return true;
        }
      } else if (instruction instanceof MethodInsnNode call && links(call)) {
        return true;
      }
    }
    return false;
  }

  private static boolean links(MethodInsnNode call) {
    return call.owner.startsWith("java/util/stream/")
        || call.owner.startsWith("java/util/regex/")
        || call.name.equals("stream")
        || call.owner.equals("java/lang/String") && OF_STRINGS.contains(call.name);
  }

  private static List<ClassNode> ownClasses() throws IOException, URISyntaxException {
    Path own = Path.of(Rewriter.class.getResource("Rewriter.class").toURI()).getParent();
    List<ClassNode> all = new ArrayList<>();
    try (Stream<Path> files = Files.list(own)) {
      for (Path file : files.filter(one -> one.toString().endsWith(".class")).toList()) {
        all.add(read(Files.readAllBytes(file)));
      }
    }
    return all;
  }

  private static ClassNode read(byte[] bytes) {
    ClassNode read = new ClassNode();
    new ClassReader(bytes).accept(read, ClassReader.SKIP_DEBUG);
    return read;
  }
}
