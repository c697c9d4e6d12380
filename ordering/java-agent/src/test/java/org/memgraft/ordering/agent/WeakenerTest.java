package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.FilterInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

class WeakenerTest {
  private static final String HERE = WeakenerTest.class.getName() + "$";

  private final Hierarchy hierarchy = new Hierarchy();
  private final ClassLoader ours = getClass().getClassLoader();

  static class Parent {
    final int[] fixed = {1};
    static long counter;

    Parent(Object unused) {}
  }

  static final class Sample extends Parent {
    static int made = 3;
    volatile boolean ordered;
    int plain;
    Object reference;
    final String name = "unchanging";

    Sample(Sample other) {
      super(other.reference);
      plain = 1;
    }

    double loads(double[] elements, Object[] references) {
      return elements[0] + plain + fixed.length + references.length + name.length();
    }

    void stores(byte[] elements, Object[] references) {
      elements[1] = 2;
      references[0] = reference;
      reference = "new";
      counter++;
      ordered = !ordered;
    }

    synchronized void calls(Supplier<Object> supplier) {
      loads(null, null);
      supplier.get();
      Math.abs(plain);
      synchronized (this) {
        Thread.onSpinWait();
      }
    }

    static final class Worker extends Thread {}

    interface Task {
      int done(int count);
    }

    native void waits();

    String behindAnInterface(Task task) {
      waits();
      StringBuilder text = new StringBuilder("done: ").append(task.done(1));
      return text.append(task).toString() + made;
    }

    void ofTheJdkAllTheSame(Worker worker) throws InterruptedException {
      worker.join();
    }

    int caught() {
      try {
        return Integer.parseInt("none");
      } catch (NumberFormatException e) {
        return plain;
      }
    }
  }

  static final class Counting extends FilterInputStream {
    Counting() {
      super(null);
    }

    void count() {
      Parent.counter++;
    }

    boolean hasSource() {
      return in != null;
    }
  }

  /** What a method of the sample calls of the memory, and the calls that it has anyway. */
  private List<String> calls(String method, String... inOrder) {
    return calls(Sample.class, ours, method, inOrder);
  }

  private List<String> calls(Class<?> of, ClassLoader loader, String method, String... inOrder) {
    return calls(RewriterTest.bytesOf(of), loader, method, inOrder);
  }

  private List<String> calls(
      byte[] original, ClassLoader loader, String method, String... inOrder) {
    hierarchy.add(loader, new ClassReader(original));
    Subset subset =
        inOrder.length == 0 ? Subset.ALL : Subset.of(List.of(inOrder), "a test", hierarchy);
    byte[] bytes =
        Weakener.rewrite(original, loader, new FieldNumbers(number -> {}), hierarchy, subset);
    List<String> found = new ArrayList<>();
    MethodVisitor accesses =
        new MethodVisitor(Rewriter.API) {
          @Override
          public void visitMethodInsn(
              int instruction, String of, String name, String shape, boolean isInterface) {
            boolean ours = of.equals("java/lang/MemgraftOrdering");
            found.add(ours ? name : "(" + name + ")");
          }

          @Override
          public void visitFieldInsn(int instruction, String of, String name, String shape) {
            if (instruction == Opcodes.PUTFIELD || instruction == Opcodes.PUTSTATIC) {
              found.add("put " + name);
            }
          }
        };
    ClassFiles.read(bytes, method, accesses);
    // Where exceptions leave the method.
    boolean hears = !method.equals("<clinit>");
    assertEquals(hears ? "acquire" : "barrier", found.get(found.size() - 1));
    return hears ? found.subList(0, found.size() - 1) : found;
  }

  @Test
  void loadsGoThroughTheMemory() {
    assertEquals(List.of("enter", "loadDouble", "loadInt", "reach", "(length)"), calls("loads"));
  }

  /** References in arrays stay as they are; a volatile one orders everything. */
  @Test
  void soDoStoresBeforeTheyAreMade() {
    assertEquals(
        List.of(
            "enter",
            "storing",
            "storeInt",
            "loadReference",
            "storing",
            "storeReference",
            "put reference",
            "loadLong",
            "storing",
            "storeLong",
            "put counter",
            "acquire",
            "put ordered"),
        calls("stores"));
  }

  /** Its class may be made later, and the field be volatile. */
  @Test
  void aFieldThatIsNotKnownOrders() {
    assertEquals(
        List.of("enter", "acquire", "put counter", "acquire"),
        calls(Counting.class, new ClassLoader(null) {}, "count"));
  }

  @Test
  void aVolatileFieldOfTheJdkOrders() {
    assertEquals(List.of("enter", "acquire"), calls(Counting.class, ours, "hasSource"));
  }

  /** As compilers of other languages have them. */
  @Test
  void aConstantThatIsComputedOrders() {
    String object = "Ljava/lang/Object;";
    String shape =
        "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;)" + object;
    String bootstraps = "java/lang/invoke/ConstantBootstraps";
    Handle computing = new Handle(Opcodes.H_INVOKESTATIC, bootstraps, "nullConstant", shape, false);
    ClassWriter writer = new ClassWriter(0);
    writer.visit(Opcodes.V17, 0, "org/example/Constants", null, "java/lang/Object", null);
    MethodVisitor code = writer.visitMethod(Opcodes.ACC_STATIC, "get", "()" + object, null, null);
    code.visitCode();
    code.visitLdcInsn("text");
    code.visitInsn(Opcodes.POP);
    code.visitLdcInsn(new ConstantDynamic("computed", object, computing));
    code.visitInsn(Opcodes.ARETURN);
    code.visitMaxs(1, 0);
    code.visitEnd();
    assertEquals(List.of("enter", "acquire"), calls(writer.toByteArray(), ours, "get"));
  }

  /** All else stays as in the test before. */
  @Test
  void whatIsNamedIsInOrder() {
    List<String> found = calls("stores", HERE + "Parent.counter");
    assertEquals(
        List.of(
            "enter",
            "storing",
            "storeInt",
            "loadReference",
            "storing",
            "storeReference",
            "put reference",
            "(acquireFence)",
            "acquireOf",
            "releaseOf",
            "put counter",
            "(fullFence)",
            "acquire",
            "put ordered"),
        found);
    List<String> elements = calls("loads", HERE + "Sample.loads[]");
    assertEquals(
        List.of("enter", "(acquireFence)", "acquireOf", "loadInt", "reach", "(length)"), elements);
  }

  /** The last one is where an exception would leave the monitor. */
  @Test
  void callsOfTheJdkOrderUnlessTheyAreKnownNotTo() {
    assertEquals(
        List.of(
            "acquire",
            "calling",
            "(loads)",
            "called",
            "(get)",
            "acquire",
            "loadInt",
            "(abs)",
            "acquire",
            "(onSpinWait)",
            "acquire"),
        calls("calls"));
    assertEquals(List.of("enter", "(parseInt)", "acquire", "loadInt"), calls("caught"));
  }

  /** A native and what a string is made of may synchronize; an interface's method is called. */
  @Test
  void whatIsNotRewrittenMayOrder() {
    assertEquals(
        List.of(
            "enter",
            "(waits)",
            "acquire",
            "(<init>)",
            "calling",
            "(done)",
            "called",
            "(append)",
            "(append)",
            "acquire",
            "(toString)",
            "loadInt"),
        calls("behindAnInterface"));
  }

  @Test
  void aMethodThatAClassInheritsFromTheJdkIsTheJdks() {
    assertEquals(List.of("enter", "(join)", "acquire"), calls("ofTheJdkAllTheSame"));
  }

  /** Before the superclass's constructor nothing may touch the object. */
  @Test
  void aConstructorWeakensItsStores() {
    assertEquals(
        List.of(
            "enter",
            "loadReference",
            "calling",
            "(<init>)",
            "called",
            "put name",
            "storing",
            "storeInt",
            "put plain"),
        calls("<init>"));
  }

  @Test
  void anInitializerIsLeftAsItIs() {
    assertEquals(List.of("put made", "barrier"), calls("<clinit>"));
  }
}
