package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two threads do one thing after the other. The memory hears nothing of what orders them but what
 * it is told.
 */
class WeakMemoryTest {
  private static final int MANY = 200;

  private final WeakMemory memory = new WeakMemory(1);
  private final ExecutorService other = Executors.newSingleThreadExecutor();

  @AfterEach
  void end() {
    other.shutdown();
  }

  /** In the other thread. */
  private int there(IntSupplier work) {
    try {
      return other.submit(work::getAsInt).get();
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError(e);
    }
  }

  private void there(Runnable work) {
    there(
        () -> {
          work.run();
          return 0;
        });
  }

  /** As code does: it asks, loads what is there, and tells of the store before it is made. */
  private void store(Object at, int where, int old, int now) {
    memory.storing();
    memory.storeInt(at, where, old, now);
  }

  /** How often a load in the other thread gets the old value, of many variables. */
  private int old(Object at, Runnable before) {
    there(memory::acquire);
    for (int i = 0; i < MANY; i++) {
      store(at, i, 5, 7);
    }
    return there(
        () -> {
          before.run();
          int old = 0;
          for (int i = 0; i < MANY; i++) {
            int got = memory.loadInt(at, i, 7);
            assertTrue(got == 5 || got == 7);
            old += got == 5 ? 1 : 0;
          }
          return old;
        });
  }

  @Test
  void aLoadMayGetWhatWasThereBefore() {
    int old = old(new Object(), () -> {});
    assertTrue(old > MANY / 4 && old < MANY, "old: " + old);
    assertEquals(MANY, memory.loads());
    assertEquals(old, memory.stale());
  }

  @Test
  void notSoAfterWhateverOrdersThem() {
    assertEquals(0, old(new Object(), memory::acquire));
    assertEquals(0, old(new Object(), () -> memory.enter(3)));
    Object made = new Object();
    assertEquals(0, old(made, () -> memory.reach(made)));
    assertEquals(0, memory.stale());
  }

  @Test
  void aCallWithinTheProgramOrdersNothing() {
    Runnable call =
        () -> {
          memory.calling(3);
          memory.enter(3);
          memory.called();
        };
    assertTrue(old(new Object(), call) > 0);
    assertEquals(0, old(new Object(), () -> memory.enter(3)));
    Runnable byALambda =
        () -> {
          memory.calling(5);
          memory.enter(3);
        };
    assertEquals(0, old(new Object(), byALambda));
    Runnable ofAnother =
        () -> {
          memory.calling(3);
          memory.called();
        };
    assertEquals(0, old(new Object(), ofAnother));
  }

  @Test
  void nothingIsOldOfAClassThatWasInitialized() {
    Object at = new Object();
    there(memory::acquire);
    store(at, 1, 5, 7);
    memory.barrier();
    for (int i = 0; i < MANY; i++) {
      assertEquals(7, there(() -> memory.loadInt(at, 1, 7)));
    }
  }

  /** Message passing, with a flag that is in order. */
  @Test
  void whoeverLoadsAVariableThatIsInOrderHasSeenWhatItsWriterHad() {
    Object at = new Object();
    // What was released before the memory knew of the variable is not known.
    memory.releaseOf(at, -1);
    there(memory::acquire);
    int old = 0;
    for (int i = 0; i < MANY; i++) {
      int where = i;
      store(at, where, 5, 7);
      memory.releaseOf(at, -1);
      store(at, MANY + where, 5, 7);
      old +=
          there(
              () -> {
                memory.acquireOf(at, -1);
                assertEquals(7, memory.loadInt(at, where, 7));
                return memory.loadInt(at, MANY + where, 7) == 5 ? 1 : 0;
              });
    }
    assertTrue(old > 0, "what was stored after the release may be old");
  }

  @Test
  void aThreadSeesItsOwnStores() {
    Object at = new Object();
    there(memory::acquire);
    store(at, 0, 1, 2);
    there(
        () -> {
          for (int i = 0; i < MANY; i++) {
            store(at, 0, 2, 10 + i);
            assertEquals(10 + i, memory.loadInt(at, 0, 10 + i));
          }
        });
  }

  /** What a thread got once is the oldest that it gets later. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void noVariableGoesBack(long seed) {
    WeakMemory seeded = new WeakMemory(seed);
    Object at = new Object();
    there(seeded::acquire);
    int[] last = new int[MANY];
    for (int value = 1; value <= 40; value++) {
      for (int i = 0; i < MANY; i++) {
        seeded.storing();
        seeded.storeInt(at, i, value - 1, value);
      }
      int now = value;
      there(
          () -> {
            for (int i = 0; i < MANY; i++) {
              int got = seeded.loadInt(at, i, now);
              assertTrue(got >= last[i] && got <= now, got + " after " + last[i]);
              last[i] = got;
            }
          });
    }
    assertTrue(seeded.stale() > 0);
  }

  @Test
  void oneVariableMayStayAsItWasForLong() {
    Object at = new Object();
    there(memory::acquire);
    for (int i = 0; i < MANY; i++) {
      store(at, i, 0, 1);
    }
    int stay =
        there(
            () -> {
              int old = 0;
              for (int i = 0; i < MANY; i++) {
                for (int looks = 0; looks < 100; looks++) {
                  memory.loadInt(at, i, 1);
                }
                old += memory.loadInt(at, i, 1) == 0 ? 1 : 0;
              }
              return old;
            });
    assertTrue(stay > MANY / 4 && stay < 3 * MANY / 4, "stay: " + stay);
  }

  @Test
  void everyKindOfValueComesBackAsItWas() {
    Object at = new Object();
    String before = "before";
    there(memory::acquire);
    for (int i = 0; i < MANY; i++) {
      memory.storing();
      memory.storeLong(at, i, Long.MIN_VALUE, 1);
      memory.storing();
      memory.storeFloat(at, MANY + i, -0.0f, 1);
      memory.storing();
      memory.storeDouble(null, i, Double.MIN_VALUE, 1);
      memory.storing();
      memory.storeReference(at, 2 * MANY + i, before, "after");
    }
    there(
        () -> {
          List<Object> got = new ArrayList<>();
          for (int i = 0; i < MANY; i++) {
            got.add(memory.loadLong(at, i, 1));
            got.add(memory.loadFloat(at, MANY + i, 1));
            got.add(memory.loadDouble(null, i, 1));
            Object reference = memory.loadReference(at, 2 * MANY + i, "after");
            if (reference != "after") {
              assertSame(before, reference);
              got.add(reference);
            }
          }
          List<Object> expected = List.of(Long.MIN_VALUE, -0.0f, Double.MIN_VALUE, before);
          assertTrue(got.containsAll(expected));
          got.removeAll(expected);
          got.removeAll(List.of(1L, 1.0f, 1.0));
          assertEquals(List.of(), got);
        });
  }

  /** There is room for so many variables; a load of one that was forgotten gets what is there. */
  @Test
  void whatIsForgottenIsNotOld() {
    there(memory::acquire);
    Object at = new Object();
    store(at, 0, 5, 7);
    for (int i = 0; i < 200_000; i++) {
      store(new Object(), i, 1, 2);
      memory.releaseOf(new Object(), i);
    }
    for (int i = 0; i < MANY; i++) {
      assertEquals(7, there(() -> memory.loadInt(at, 0, 7)));
    }
    store(at, 1, 5, 7);
    there(
        () -> {
          memory.acquireOf(new Object(), 3);
          assertEquals(7, memory.loadInt(at, 1, 7));
        });
  }

  /** So many others are stored that each place gets another variable. */
  private void forgetAll() {
    for (int i = 0; i < 200_000; i++) {
      store(new Object(), i, 1, 2);
    }
  }

  @Test
  void ofAVariableThatIsRememberedAgainALoadMayGetWhatWasThere() {
    Object at = new Object();
    for (int i = 0; i < MANY; i++) {
      store(at, i, 5, 7);
    }
    forgetAll();
    there(
        () -> {
          memory.acquire();
          for (int i = 0; i < MANY; i++) {
            store(at, i, 7, 9);
          }
        });
    int old = 0;
    for (int i = 0; i < MANY; i++) {
      old += memory.loadInt(at, i, 9) == 7 ? 1 : 0;
    }
    assertTrue(old > MANY / 4 && old < MANY, "old: " + old);
  }

  /**
   * The other thread loads what was there before this one stores; or after the memory was told of
   * that store, which is under way until this thread tells of another one.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aThreadSeesItsOwnStoreThoughItIsForgotten(boolean isUnderWay) {
    for (int i = 0; i < 5; i++) {
      Object at = new Object();
      there(memory::storing);
      store(at, 0, 5, 7);
      if (isUnderWay) {
        there(this::forgetAll);
        there(memory::storing);
      } else {
        forgetAll();
      }
      there(() -> memory.storeInt(at, 0, 5, 9));
      for (int load = 0; load < 10; load++) {
        assertEquals(9, memory.loadInt(at, 0, 9));
      }
    }
  }

  /** One of them stores what another one has never had. */
  @Test
  void ofStaticFieldsThatShareANumberNothingIsOld() {
    there(memory::acquire);
    for (int i = 0; i < MANY; i++) {
      store(null, i, 5, 7);
      memory.shareNumber(i);
      store(null, i, 7, 9);
    }
    there(
        () -> {
          for (int i = 0; i < MANY; i++) {
            assertEquals(3, memory.loadInt(null, i, 3));
          }
        });
    assertTrue(old(new Object(), () -> {}) > 0, "of other objects it is");
  }

  /** The JDK stores 5 for the other thread, of which the memory does not hear. */
  @Test
  void whatWasOverwrittenUnheardIsNotOld() {
    Object at = new Object();
    there(memory::acquire);
    for (int i = 0; i < MANY; i++) {
      store(at, i, 0, 1);
    }
    there(memory::acquire);
    for (int i = 0; i < MANY; i++) {
      store(at, i, 5, 7);
    }
    int old =
        there(
            () -> {
              int fives = 0;
              for (int i = 0; i < MANY; i++) {
                int got = memory.loadInt(at, i, 7);
                assertTrue(got == 5 || got == 7, "got: " + got);
                fives += got == 5 ? 1 : 0;
              }
              return fives;
            });
    assertTrue(old > MANY / 4, "old: " + old);
  }

  /** The store is unheard again, and comes between a load of what was there and its store. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatWasOverwrittenMeanwhileIsNotOld(boolean isToldByAVariableInOrder) {
    Object at = new Object();
    Object flag = new Object();
    memory.releaseOf(flag, 0);
    ExecutorService third = Executors.newSingleThreadExecutor();
    Runnable synchronize = () -> memory.acquireOf(flag, 0);
    try {
      third.submit(memory::acquire).get();
      for (int i = 0; i < MANY; i++) {
        int where = i;
        store(at, where, 0, 1);
        memory.storing();
        there(
            () -> {
              memory.acquire();
              memory.releaseOf(flag, 0);
            });
        third.submit(isToldByAVariableInOrder ? synchronize : memory::acquire).get();
        memory.storeInt(at, where, 1, 7);
        assertEquals(7, third.submit(() -> memory.loadInt(at, where, 7)).get());
      }
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError(e);
    } finally {
      third.shutdown();
    }
  }

  /** Here code that is in order has stored it, and there code that is not. */
  @Test
  void whatWasOverwrittenInOrderIsNotOld() {
    Object at = new Object();
    there(memory::acquire);
    for (int i = 0; i < MANY; i++) {
      int where = i;
      store(at, where, 0, 1);
      memory.storing();
      there(() -> memory.releaseOf(at, where));
      memory.storeInt(at, where, 1, 7);
      assertEquals(7, there(() -> memory.loadInt(at, where, 7)));
    }
  }

  @Test
  void moreThreadsThanItCountsGetWhatIsThere() throws InterruptedException {
    Object at = new Object();
    List<Thread> threads = new ArrayList<>();
    Object end = new Object();
    synchronized (end) {
      for (int i = 0; i < WeakMemory.MOST_THREADS; i++) {
        Thread thread =
            new Thread(
                () -> {
                  memory.acquire();
                  synchronized (end) {
                    end.hashCode();
                  }
                });
        thread.start();
        threads.add(thread);
      }
      // Until each of them has come as far as the lock.
      for (Thread thread : threads) {
        while (thread.getState() != Thread.State.BLOCKED) {
          Thread.onSpinWait();
        }
      }
      store(at, 0, 5, 7);
      for (int i = 0; i < MANY; i++) {
        assertEquals(7, there(() -> memory.loadInt(at, 0, 7)));
      }
    }
    for (Thread thread : threads) {
      thread.join();
    }
    // Numbers of threads that have ended are given out again.
    ExecutorService later = Executors.newSingleThreadExecutor();
    later.submit(memory::acquire);
    later.shutdown();
  }
}
