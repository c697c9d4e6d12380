package org.memgraft.workloads.spark;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.memgraft.workloads.harness.Size;
import org.memgraft.workloads.harness.Worker;
import org.memgraft.workloads.harness.Workload;

/**
 * A Spark application within this JVM: the worker that takes an iteration's only item drives it,
 * and as many executor threads as were asked for work. What it works on is made once, from numbers
 * alone, and kept in memory.
 */
abstract class SparkApplication implements Workload {
  /** The same for any number of threads: it decides what is added to what first. */
  static final int PARTITIONS = 8;

  /** The names that org.apache.spark.executor.Executor gives its threads begin so. */
  private static final String EXECUTORS = "Executor task launch worker";

  private static final String LOOPBACK = "127.0.0.1";

  private int threads = 1;

  /** Makes what the jobs work on. */
  abstract void load(JavaRDD<Integer> partitions, Size size);

  /** One job, or some; returns the checksum. */
  abstract long run() throws Exception;

  @Override
  public final void useThreads(int threads) {
    this.threads = threads;
  }

  @Override
  public final String ownThreads() {
    return EXECUTORS;
  }

  // Spark removes its temporary folders itself when the JVM ends.
  @SuppressWarnings("resource")
  @Override
  public final void prepare(Size size) {
    JavaSparkContext spark = new JavaSparkContext(configuration());
    List<Integer> numbers = IntStream.range(0, PARTITIONS).boxed().toList();
    load(spark.parallelize(numbers, PARTITIONS), size);
  }

  private SparkConf configuration() {
    return new SparkConf(false)
        .setMaster("local[" + threads + "]")
        .setAppName(name())
        .set("spark.ui.enabled", "false")
        // Even a driver without a cluster listens.
        .set("spark.driver.host", LOOPBACK)
        .set("spark.driver.bindAddress", LOOPBACK)
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
    return item -> run();
  }
}
