package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

class WatcherTest {
  private static final String PACKAGE = WatcherTest.class.getPackageName() + ".";

  private final Hierarchy hierarchy = new Hierarchy();
  private final Touches touches = new Touches();

  static class Base {
    int inherited;
    volatile int ordered;
  }

  static final class Watched extends Base {
    private final int fixed = hashCode();
    private int field;
    private int[] elements = {1};

    int work() {
      field = inherited + ordered + fixed + elements[0];
      return elements.clone().length;
    }
  }

  /** What its methods tell, in their order. */
  private List<String> told() {
    byte[] bytes =
        Watcher.rewrite(
            RewriterTest.bytesOf(Watched.class),
            getClass().getClassLoader(),
            hierarchy,
            touches,
            RewriterTest.X86);
    List<Integer> numbers = new ArrayList<>();
    new ClassReader(bytes).accept(new Numbers(numbers), 0);
    return numbers.stream().map(this::toldBy).map(name -> name.replace(PACKAGE, "")).toList();
  }

  /** What is said to be touched after a number was told. */
  private String toldBy(int number) {
    List<Map<String, Object>> before = touches.done();
    touches.accept(number);
    List<Map<String, Object>> after = touches.done();
    for (int i = 0; i < after.size(); i++) {
      for (String kind : List.of("load", "store")) {
        if (!after.get(i).get(kind + "s").equals(before.get(i).get(kind + "s"))) {
          return kind + " " + after.get(i).get("name");
        }
      }
    }
    throw new AssertionError("nothing was told by " + number);
  }

  private static final class Numbers extends ClassVisitor {
    private final List<Integer> numbers;

    Numbers(List<Integer> numbers) {
      super(Rewriter.API);
      this.numbers = numbers;
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String name, String shape, String signature, String[] exceptions) {
      return new MethodVisitor(Rewriter.API) {
        private Object last;

        @Override
        public void visitLdcInsn(Object value) {
          last = value;
        }

        @Override
        public void visitIntInsn(int instruction, int operand) {
          last = operand;
        }

        @Override
        public void visitInsn(int instruction) {
          last = instruction - Opcodes.ICONST_0;
        }

        @Override
        public void visitMethodInsn(
            int instruction, String of, String called, String shape, boolean isInterface) {
          if (called.equals("touched")) {
            numbers.add((Integer) last);
          }
        }
      };
    }
  }

  @Test
  void everyAccessOfWhatIsNotInOrderIsTold() {
    assertEquals(
        List.of(
            "store WatcherTest$Watched.<init>[]",
            "store WatcherTest$Watched.elements",
            "load WatcherTest$Base.inherited",
            "load WatcherTest$Watched.elements",
            "load WatcherTest$Watched.work[]",
            "store WatcherTest$Watched.field",
            "load WatcherTest$Watched.elements",
            "load WatcherTest$Watched.work()",
            "store WatcherTest$Watched.work()"),
        told());
  }

  /** So many that the table of numbers has to grow while threads use it. */
  @Test
  void whoDidItIsKeptOnceWithItsStack() throws InterruptedException {
    int load = touches.number("first", false);
    int store = touches.number("first", true);
    Thread other =
        new Thread(
            () -> {
              touches.accept(store);
              touches.accept(store);
            },
            "other");
    other.start();
    for (int i = 0; i < 5000; i++) {
      touches.accept(touches.number("name " + i % 2000, i % 2 == 0));
      touches.accept(load);
    }
    other.join();
    Map<String, Object> first = touches.done().get(0);
    assertEquals("first", first.get("name"));
    List<Map<String, Object>> loads = accesses(first, "loads");
    List<Map<String, Object>> stores = accesses(first, "stores");
    assertEquals(List.of(Thread.currentThread().getName()), threads(loads));
    assertEquals(List.of("other"), threads(stores));
    assertEquals(5000L, loads.get(0).get("times"));
    assertEquals(2L, stores.get(0).get("times"));
    List<?> stack = (List<?>) stores.get(0).get("stack");
    assertTrue(stack.get(stack.size() - 1).toString().contains("java.lang.Thread.run"));
  }

  @Test
  void threadsThatTakeTurnsAreCountedOnceEach() throws InterruptedException {
    int load = touches.number("first", false);
    for (int turn = 0; turn < 3; turn++) {
      touches.accept(load);
      Thread other = new Thread(() -> touches.accept(load), "other");
      other.start();
      other.join();
    }
    touches.accept(load);
    List<Map<String, Object>> loads = accesses(touches.done().get(0), "loads");
    String here = Thread.currentThread().getName();
    assertEquals(List.of(here, "other", "other", "other"), threads(loads));
    assertEquals(4L, loads.get(0).get("times"));
  }

  @Test
  void fourThreadsAreEnough() throws InterruptedException {
    int load = touches.number("first", false);
    for (int i = 0; i < 6; i++) {
      Thread one = new Thread(() -> touches.accept(load), "thread " + i);
      one.start();
      one.join();
    }
    List<Map<String, Object>> loads = accesses(touches.done().get(0), "loads");
    assertEquals(List.of("thread 0", "thread 1", "thread 2", "thread 3"), threads(loads));
  }

  private static List<Map<String, Object>> accesses(Map<String, Object> one, String kind) {
    List<Map<String, Object>> found = new ArrayList<>();
    for (Object access : (List<?>) one.get(kind)) {
      found.add(
          ((Map<?, ?>) access)
              .entrySet().stream()
                  .collect(Collectors.toMap(e -> e.getKey().toString(), Map.Entry::getValue)));
    }
    return found;
  }

  private static List<Object> threads(List<Map<String, Object>> accesses) {
    return accesses.stream().map(access -> access.get("thread")).toList();
  }
}
