package org.memgraft.workloads.spark;

import java.util.Iterator;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.memgraft.workloads.harness.Size;
import org.memgraft.workloads.harness.WorkloadFailure;
import scala.Tuple2;

/** Sorts pairs by key, of which some occur more than once. */
public final class SparkSort extends SparkApplication {
  private static final int SMALL_PAIRS = 8_000;
  private static final int DEFAULT_PAIRS = 200_000;

  private JavaPairRDD<String, Integer> pairs;

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("97a1b72afa0a5448", "26979f7d144ec949");
  }

  @Override
  void load(JavaRDD<Integer> partitions, Size size) {
    int count = size.pick(SMALL_PAIRS, DEFAULT_PAIRS) / PARTITIONS;
    pairs = partitions.flatMapToPair(partition -> pairs(partition, count)).cache();
    pairs.count();
  }

  private static Iterator<Tuple2<String, Integer>> pairs(int partition, int count) {
    Random random = new Random(partition);
    return IntStream.range(0, count)
        .mapToObj(number -> new Tuple2<>(Text.word(random.nextInt(1 << 30)), number))
        .iterator();
  }

  @Override
  long run() throws WorkloadFailure {
    return SortedRun.sumOf(pairs.sortByKey().mapPartitions(SortedRun::of).collect());
  }
}
