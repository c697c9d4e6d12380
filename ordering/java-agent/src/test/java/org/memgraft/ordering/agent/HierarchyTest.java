package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
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

  /** Says what the thread that asks it has taken over from the one that made it. */
  private static final class Telling extends ClassLoader {
    private final CountDownLatch asked;
    private volatile ClassLoader context;

    Telling(CountDownLatch asked) {
      super(null);
      this.asked = asked;
    }

    @Override
    public InputStream getResourceAsStream(String name) {
      context = Thread.currentThread().getContextClassLoader();
      asked.countDown();
      try {
        // So that each question needs a thread of its own.
        asked.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return null;
    }
  }

  @Test
  void threadsThatAskTakeNothingOverFromTheProgram() throws InterruptedException {
    hierarchy.declaring(getClass().getClassLoader(), OWNER, "number", "I");
    int count = 8;
    CountDownLatch asked = new CountDownLatch(count);
    ClassLoader mine = new ClassLoader(null) {};
    List<Telling> all = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Telling telling = new Telling(asked);
      Thread thread = new Thread(() -> hierarchy.declaring(telling, OWNER, "number", "I"));
      thread.setContextClassLoader(mine);
      thread.start();
      all.add(telling);
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    asked.await();
    for (Telling telling : all) {
      assertNotSame(mine, telling.context);
    }
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
