package org.memgraft.workloads.spark;

import java.io.Serializable;
import java.util.Iterator;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.Size;
import scala.Tuple2;

/** Aggregates values by key: how many, their sum and the largest. */
public final class SparkAggregate extends SparkApplication {
  private static final int KEYS = 20_000;
  private static final int SMALL_PAIRS = 40_000;
  private static final int DEFAULT_PAIRS = 1_000_000;

  private JavaPairRDD<Integer, Integer> pairs;

  /** What is known of the values of a key. */
  record Summary(long count, long sum, int largest) implements Serializable {
    static final Summary NOTHING = new Summary(0, 0, Integer.MIN_VALUE);

    Summary with(int value) {
      return new Summary(count + 1, sum + value, Math.max(largest, value));
    }

    Summary with(Summary other) {
      return new Summary(count + other.count, sum + other.sum, Math.max(largest, other.largest));
    }
  }

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("049c6acda4a70f32", "8cad233b8d2a0e0f");
  }

  @Override
  void load(JavaRDD<Integer> partitions, Size size) {
    int count = size.pick(SMALL_PAIRS, DEFAULT_PAIRS) / PARTITIONS;
    pairs = partitions.flatMapToPair(partition -> pairs(partition, count)).cache();
    pairs.count();
  }

  private static Iterator<Tuple2<Integer, Integer>> pairs(int partition, int count) {
    Random random = new Random(partition);
    return IntStream.range(0, count)
        .mapToObj(number -> new Tuple2<>(random.nextInt(KEYS), random.nextInt()))
        .iterator();
  }

  @Override
  long run() {
    return pairs
        .aggregateByKey(Summary.NOTHING, Summary::with, Summary::with)
        .map(each -> checksum(each._1(), each._2()))
        .reduce(Long::sum);
  }

  private static long checksum(int key, Summary summary) {
    return Checksum.of(key, summary.count, summary.sum, summary.largest);
  }
}
