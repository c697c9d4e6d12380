package org.memgraft.workloads.harness;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs the iterations of one workload, reports each and checks its checksum. */
final class Driver {
  private static final double NANOS_PER_SECOND = 1e9;

  private final Workload workload;
  private final Size size;
  private final int threads;
  private final int leastItems;
  private final PrintStream out;

  /** How often all items are done in one iteration; known after {@link Workload#prepare}. */
  private int rounds;

  Driver(Workload workload, Size size, int threads, int leastItems, PrintStream out) {
    this.workload = workload;
    this.size = size;
    this.threads = threads;
    this.leastItems = leastItems;
    this.out = out;
  }

  @SuppressWarnings("try") // what it throws is of any kind
  private interface Closing extends AutoCloseable {}

  /**
   * @throws WorkloadFailure when a worker failed or a checksum is not the expected one
   * @throws UsageException when this Java runtime cannot run the workload
   * @throws Exception whatever the workload threw
   */
  @SuppressWarnings("try") // the resource is only closed
  void run(int iterations) throws Exception {
    // What fails while it closes is said less than what went wrong before.
    try (Closing closing = workload::close) {
      workload.useThreads(threads);
      workload.prepare(size);
      runPrepared(iterations);
    }
  }

  private void runPrepared(int iterations) throws Exception {
    rounds = Math.max(1, (leastItems + workload.items() - 1) / workload.items());
    if (rounds > 1 && !workload.repeatable()) {
      throw new UsageException(
          "--items %d: has %d items that cannot be done again in one iteration; expected at most %d"
              .formatted(leastItems, workload.items(), workload.items()));
    }
    List<Worker> workers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      workers.add(workload.newWorker());
    }
    // The same threads in all iterations: HotSpot sizes a thread's TLAB from that thread's past.
    ExecutorService pool = Executors.newFixedThreadPool(threads, daemonsNamedWorker());
    try {
      for (int iteration = 0; iteration < iterations; iteration++) {
        IterationReport report = iterate(iteration, workers, pool);
        out.println(report.toJson());
        out.flush();
        check(report);
      }
    } finally {
      pool.shutdownNow();
    }
  }

  private IterationReport iterate(int iteration, List<Worker> workers, ExecutorService pool)
      throws Exception {
    workload.beforeIteration();
    AtomicInteger nextItem = new AtomicInteger();
    List<Callable<Share>> tasks = new ArrayList<>();
    for (Worker worker : workers) {
      tasks.add(() -> work(worker, nextItem));
    }

    Map<Long, Meters.Used> ownBefore = workload.usedByOwnThreads();
    long collectionsBefore = Meters.collections();
    long cpuBefore = Meters.processCpu();
    long wallBefore = System.nanoTime();
    long[] sums = new long[rounds];
    long workerCpu = 0;
    long allocated = 0;
    for (Future<Share> done : pool.invokeAll(tasks)) {
      Share share = shareOf(done, iteration);
      Arrays.setAll(sums, round -> sums[round] + share.sums()[round]);
      workerCpu += share.cpuNanos();
      allocated += share.allocatedBytes();
    }
    // What this thread does now is work of the workload too.
    long driverCpuBefore = Meters.currentThreadCpu();
    long driverAllocatedBefore = Meters.currentThreadAllocated();
    workload.afterItems();
    workerCpu += Meters.currentThreadCpu() - driverCpuBefore;
    allocated += Meters.currentThreadAllocated() - driverAllocatedBefore;
    long wall = System.nanoTime() - wallBefore;
    long cpu = Meters.processCpu() - cpuBefore;
    Meters.Used own = Meters.since(ownBefore, workload.usedByOwnThreads());

    return new IterationReport(
        iteration,
        workload.name(),
        wall / NANOS_PER_SECOND,
        cpu / NANOS_PER_SECOND,
        (workerCpu + own.cpuNanos()) / NANOS_PER_SECOND,
        allocated + own.allocatedBytes(),
        Meters.collections() - collectionsBefore,
        checksum(sums));
  }

  /** That of every round; of rounds that differ the one that is wrong. */
  private String checksum(long[] sums) throws Exception {
    String checksum = workload.expectedChecksum(size);
    for (long sum : sums) {
      String ofRound = Checksum.text(workload.checksum(sum));
      if (!ofRound.equals(checksum)) {
        return ofRound;
      }
    }
    return checksum;
  }

  /** What one thread contributed to an iteration; a sum for each round. */
  private record Share(long[] sums, long cpuNanos, long allocatedBytes) {}

  private Share work(Worker worker, AtomicInteger nextItem) throws WorkloadFailure {
    String thread = Thread.currentThread().getName() + ": ";
    long cpuBefore = Meters.currentThreadCpu();
    long allocatedBefore = Meters.currentThreadAllocated();
    long[] sums = new long[rounds];
    int items = workload.items();
    int all = items * rounds;
    try {
      for (int next = nextItem.getAndIncrement(); next < all; next = nextItem.getAndIncrement()) {
        sums[next / items] += worker.run(next % items);
      }
      return new Share(
          sums,
          Meters.currentThreadCpu() - cpuBefore,
          Meters.currentThreadAllocated() - allocatedBefore);
    } catch (WorkloadFailure e) {
      throw new WorkloadFailure(thread + e.getMessage(), e.getCause());
    } catch (Throwable e) {
      // Errors too: running out of memory under a graft is a result.
      throw new WorkloadFailure(thread + e, e);
    } finally {
      // After a failure the others have nothing left to take; harmless when all went well.
      nextItem.set(all);
    }
  }

  private static Share shareOf(Future<Share> done, int iteration)
      throws WorkloadFailure, InterruptedException {
    try {
      return done.get();
    } catch (ExecutionException e) {
      throw new WorkloadFailure(
          "iteration " + iteration + ": " + e.getCause().getMessage(), e.getCause().getCause());
    }
  }

  private void check(IterationReport report) throws WorkloadFailure {
    String expected = workload.expectedChecksum(size);
    if (!report.checksum().equals(expected)) {
      throw new WorkloadFailure(
          "iteration %d: checksum %s, expected %s for --size %s: this JVM computed something else"
              .formatted(report.iteration(), report.checksum(), expected, size));
    }
  }

  private static ThreadFactory daemonsNamedWorker() {
    AtomicInteger count = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, "worker-" + count.getAndIncrement());
      thread.setDaemon(true);
      return thread;
    };
  }
}
