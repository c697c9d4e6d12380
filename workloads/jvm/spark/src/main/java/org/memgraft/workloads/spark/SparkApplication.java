package org.memgraft.workloads.spark;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.memgraft.workloads.harness.Meters;
import org.memgraft.workloads.harness.Size;
import org.memgraft.workloads.harness.UsageException;
import org.memgraft.workloads.harness.Worker;
import org.memgraft.workloads.harness.Workload;

/**
 * A Spark application: the worker that takes an iteration's only item drives it, and as many
 * executor threads as were asked for work, in this JVM or in that of an executor. What it works on
 * is made once, from numbers alone, and kept in memory.
 */
abstract class SparkApplication implements Workload {
  /** The same for any number of threads: it decides what is added to what first. */
  static final int PARTITIONS = 8;

  /** The names that org.apache.spark.executor.Executor gives its threads begin so. */
  private static final String EXECUTORS = "Executor task launch worker";

  private int threads = 1;
  private boolean standalone;
  private StandaloneCluster cluster;
  private JavaSparkContext spark;

  /** Makes what the jobs work on. */
  abstract void load(JavaRDD<Integer> partitions, Size size);

  /** One job, or some; returns the checksum. */
  abstract long run() throws Exception;

  @Override
  public final int defaultIterations(Size size) {
    return size.pick(3, 10);
  }

  @Override
  public final void useThreads(int threads) {
    this.threads = threads;
  }

  @Override
  public final void standalone() throws UsageException {
    StandaloneCluster.requireJava();
    standalone = true;
  }

  /** Asked of the executor itself where that is another JVM. */
  @Override
  public final Map<Long, Meters.Used> usedByOwnThreads() {
    if (cluster == null) {
      return Meters.usedByThreadsNamed(EXECUTORS);
    }
    return spark
        .parallelize(List.of(0), 1)
        .map(nothing -> Meters.usedByThreadsNamed(EXECUTORS))
        .first();
  }

  @Override
  public final void prepare(Size size) throws Exception {
    SparkConf configuration = configuration();
    if (standalone) {
      cluster = new StandaloneCluster(threads);
      cluster.configure(configuration);
    }
    spark = new JavaSparkContext(configuration);
    if (standalone) {
      // Else jobs would wait for another worker for ever.
      cluster.whenBroken(spark::close);
    }
    List<Integer> numbers = IntStream.range(0, PARTITIONS).boxed().toList();
    telling(
        () -> {
          load(spark.parallelize(numbers, PARTITIONS), size);
          return 0L;
        });
  }

  /** Does it, and where that fails, tells what the other processes said of it. */
  private long telling(Callable<Long> work) throws Exception {
    try {
      return work.call();
    } catch (Exception e) {
      throw cluster == null ? e : cluster.failure(e);
    }
  }

  private SparkConf configuration() {
    return new SparkConf(false)
        .setMaster("local[" + threads + "]")
        .setAppName(name())
        .set("spark.ui.enabled", "false")
        // Even a driver without a cluster listens.
        .set("spark.driver.host", StandaloneCluster.LOOPBACK)
        .set("spark.driver.bindAddress", StandaloneCluster.LOOPBACK)
        // Instead of 300 MiB, or a heap of 512 MiB would hold next to no data.
        .set("spark.testing.reservedMemory", Integer.toString(1 << 26))
        // Above all others, and removed when the JVM ends.
        .set("spark.local.dir", System.getProperty("java.io.tmpdir"));
  }

  @Override
  public final int items() {
    return 1;
  }

  @Override
  public final Worker newWorker() {
    return item -> telling(this::run);
  }

  @Override
  public final void close() throws IOException {
    if (spark != null) {
      spark.close();
    }
    if (cluster != null) {
      cluster.close();
    }
  }
}
