package org.memgraft.ordering.litmus;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets the threads of a race go through its instances again and again, and counts the outcomes.
 *
 * <p>As in jcstress, an instance is raced for once per batch, and the threads meet at a barrier
 * before each stretch of a batch, so that they are about the same instances at the same time. How
 * long a stretch is, and which thread starts it a little late, changes from batch to batch; the
 * seed decides how.
 */
final class Runner {
  /** Lengths of stretches; short ones meet more often, long ones drift apart. */
  private static final int[] STRETCHES = {16, 64, 256, 1024};

  /** Where threads share CPUs, each meeting costs a change of threads. */
  private static final int[] CROWDED_STRETCHES = {256, 1024};

  /** How long a thread that starts late waits, in {@link Thread#onSpinWait}. */
  private static final int LATEST = 24;

  /** Instances between two looks at what is compiled. */
  private static final int WARM_UP = 40 * 1024;

  /**
   * After which a race is run as it is. C2 has compiled everything after 1 to 5 looks, but on a
   * machine that has other things to do its thread may be kept waiting for seconds.
   */
  private static final long LONGEST_WARM_UP_NANOSECONDS = 20_000_000_000L;

  /** For the compiler's thread, where the racing ones leave it no CPU. */
  private static final int PAUSE_MILLISECONDS = 5;

  /**
   * How often the rounds are run where a reordering must show. More than once only where threads
   * seldom run at the same time, as on a machine that has other things to do.
   */
  private static final int MOST_TRIES = 100;

  private final Litmus litmus;
  private final Race race;
  private final long seed;
  private final int threads;
  private final int batch;
  private final int[] stretches;
  private final Object[] instances;
  private final long[][] results;
  private final int[][] registersOf;
  private final int registers;
  private final int labels;
  private final Type type;
  private final ThreadFactory factory;

  Runner(Litmus litmus, long seed, ThreadFactory factory) {
    this.litmus = litmus;
    this.seed = seed;
    this.factory = factory;
    race = litmus.race().get();
    threads = litmus.threads();
    batch = race.batch();
    stretches =
        threads > Runtime.getRuntime().availableProcessors() ? CROWDED_STRETCHES : STRETCHES;
    instances = new Object[batch];
    results = new long[threads][];
    registersOf = new int[threads][];
    registers = litmus.registers();
    labels = litmus.labels().size();
    type = litmus.type();
    for (int thread = 0; thread < threads; thread++) {
      List<Integer> mine = litmus.registersOf().get(thread);
      results[thread] = new long[batch * mine.size()];
      registersOf[thread] = mine.stream().mapToInt(Integer::intValue).toArray();
    }
    Arrays.setAll(instances, i -> race.fresh());
    for (int i = 0; i < batch; i++) {
      race.reset(instances, i);
    }
  }

  /**
   * What a run showed.
   *
   * @param compiled whether all racing methods were as the executor wants them when counting began
   */
  record Run(long rounds, boolean compiled, Outcomes outcomes) {}

  /**
   * Warms up until the executor has what it wants, then counts at least so many rounds.
   *
   * @param mustShow do as many again, and again, until an outcome was not SC
   */
  Run run(long rounds, Executor executor, boolean mustShow) throws InterruptedException {
    long start = System.nanoTime();
    boolean compiled = executor.has(race);
    while (!compiled && System.nanoTime() - start < LONGEST_WARM_UP_NANOSECONDS) {
      batches(WARM_UP / batch, 0, true);
      Thread.sleep(PAUSE_MILLISECONDS);
      compiled = executor.has(race);
    }
    long batches = (rounds + batch - 1) / batch;
    Outcomes outcomes = batches(batches, 0, false);
    int tries = 1;
    while (mustShow && outcomes.notSc() == 0 && tries < MOST_TRIES) {
      outcomes.add(batches(batches, tries * batches, false));
      tries++;
    }
    return new Run(tries * batches * batch, compiled, outcomes);
  }

  private Outcomes batches(long count, long first, boolean shortStretches)
      throws InterruptedException {
    Barrier barrier = new Barrier(threads);
    List<Outcomes> parts = new ArrayList<>();
    List<Thread> started = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int thread = i;
      Outcomes part = new Outcomes(litmus);
      parts.add(part);
      Thread racing =
          factory.newThread(
              () -> {
                try {
                  for (long number = first; number < first + count; number++) {
                    batch(thread, number, shortStretches, barrier, part);
                  }
                } catch (Throwable e) {
                  // The others would wait for this thread for ever.
                  e.printStackTrace();
                  Runtime.getRuntime().halt(Main.FAILED);
                }
              });
      racing.setName("race-" + thread);
      started.add(racing);
    }
    started.forEach(Thread::start);
    for (Thread thread : started) {
      thread.join();
    }
    parts.stream().skip(1).forEach(parts.get(0)::add);
    return parts.get(0);
  }

  private void batch(
      int thread, long number, boolean shortStretches, Barrier barrier, Outcomes part) {
    long random = mix(seed + number);
    int stretch =
        shortStretches ? stretches[0] : stretches[(int) ((random & 0xff) % stretches.length)];
    int length = Math.min(stretch, batch);
    for (int from = 0; from < batch; from += length) {
      barrier.await();
      random = mix(random);
      if ((random & 0xff) % (threads + 1) == thread) {
        wait((int) ((random >>> 8 & 0xff) % LATEST));
      }
      race.sweep(thread, instances, results[thread], from, Math.min(batch, from + length));
    }
    barrier.await();
    // Each thread looks at its share. Which share is whose changes, and with it whose cache the
    // instances are in.
    int[] values = new int[labels];
    long[] finals = new long[labels - registers];
    for (int i = (int) ((thread + number) % threads); i < batch; i += threads) {
      collect(i, values, finals);
      part.count(values);
      race.reset(instances, i);
    }
  }

  private void collect(int instance, int[] values, long[] finals) {
    for (int thread = 0; thread < threads; thread++) {
      int[] mine = registersOf[thread];
      for (int i = 0; i < mine.length; i++) {
        values[mine[i]] = type.value(results[thread][instance * mine.length + i]);
      }
    }
    if (finals.length > 0) {
      race.finals(instances, instance, finals);
      for (int i = 0; i < finals.length; i++) {
        values[registers + i] = type.value(finals[i]);
      }
    }
  }

  private static void wait(int spins) {
    for (int i = 0; i < spins; i++) {
      Thread.onSpinWait();
    }
  }

  /** Variant 13 of David Stafford, "Better Bit Mixing". */
  private static long mix(long value) {
    long z = value + 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** Lets threads go on when all have come; spins, since a thread woken by the system is late. */
  private static final class Barrier {
    /** About the time of a change of threads: then another may need this CPU to come here. */
    private static final int SPINS = 2000;

    /**
     * After so many a thread parks: seldom, since a parked thread comes back late. A virtual thread
     * that only yields may be taken up again and again by its carrier (JDK 25 with one carrier does
     * so), while another one that is to come here waits for a carrier.
     */
    private static final int YIELDS = 1024;

    private static final long SHORTEST_PARK_NANOSECONDS = 1;

    private final int threads;
    private final boolean crowded;
    private final AtomicInteger come = new AtomicInteger();
    private volatile int generation;

    Barrier(int threads) {
      this.threads = threads;
      crowded = threads > Runtime.getRuntime().availableProcessors();
    }

    void await() {
      int mine = generation;
      if (come.incrementAndGet() == threads) {
        come.set(0);
        generation = mine + 1;
        return;
      }
      for (int spins = 0; generation == mine; spins++) {
        if (spins < SPINS && !crowded) {
          Thread.onSpinWait();
        } else if (spins % YIELDS == YIELDS - 1) {
          LockSupport.parkNanos(SHORTEST_PARK_NANOSECONDS);
        } else {
          Thread.yield();
        }
      }
    }
  }
}
