package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;

class HierarchyTest {
  private static final String OWNER = "org/memgraft/ordering/agent/HierarchyTest$Known";

  private final Hierarchy hierarchy = new Hierarchy();

  static class Known {
    int number;
  }

  static class Versioned extends Known implements java.io.Serializable {
    private static final long serialVersionUID = 1;
  }

  private static ClassReader readerOf(Class<?> known) {
    return new ClassReader(RewriterTest.bytesOf(known));
  }

  /** It may wait for the thread that asks, which holds a lock of its own. */
  private static final class Silent extends ClassLoader {
    private final AtomicInteger asked = new AtomicInteger();
    private final CountDownLatch never = new CountDownLatch(1);

    @Override
    public InputStream getResourceAsStream(String name) {
      asked.incrementAndGet();
      try {
        never.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return null;
    }
  }

  @Test
  void aLoaderThatDoesNotAnswerIsAskedOnce() {
    Silent silent = new Silent();
    assertFalse(hierarchy.declaring(silent, "org/example/One", "number", "I").known());
    assertFalse(hierarchy.declaring(silent, "org/example/Other", "number", "I").known());
    assertEquals(1, silent.asked.get());
    silent.never.countDown();
  }

  @Test
  void whoeverAsksMayHaveBeenInterrupted() {
    Thread.currentThread().interrupt();
    ClassLoader mine = getClass().getClassLoader();
    assertTrue(hierarchy.declaring(mine, OWNER, "number", "I").known());
    assertTrue(Thread.interrupted(), "it is still");
  }

  /** Made at run time, a class has no file. */
  @Test
  void whatHasNoFileIsKnownOnceItWasLoaded() {
    ClassLoader empty = new ClassLoader(null) {};
    assertFalse(hierarchy.declaring(empty, OWNER, "number", "I").known());
    hierarchy.add(getClass().getClassLoader(), readerOf(Known.class));
    assertTrue(hierarchy.declaring(empty, OWNER, "number", "I").known());
  }

  @Test
  void whatIsSerializableMayBeInherited() {
    ClassLoader mine = getClass().getClassLoader();
    assertFalse(hierarchy.maybeSerializable(mine, OWNER));
    assertTrue(hierarchy.maybeSerializable(mine, OWNER.replace("Known", "Versioned")));
    assertTrue(hierarchy.maybeSerializable(mine, "java/util/ArrayList"));
    assertTrue(hierarchy.maybeSerializable(mine, "org/example/Unknown"));
  }
}
