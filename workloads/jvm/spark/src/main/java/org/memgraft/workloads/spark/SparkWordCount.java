package org.memgraft.workloads.spark;

import java.util.Arrays;
import org.apache.spark.api.java.JavaRDD;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.Size;
import scala.Tuple2;

/** Counts how often each word occurs in a text. */
public final class SparkWordCount extends SparkApplication {
  private static final int SMALL_LINES = 4_000;
  private static final int DEFAULT_LINES = 80_000;

  private JavaRDD<String> lines;

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("30ce8a616e23b36a", "18ccc8e082745993");
  }

  @Override
  void load(JavaRDD<Integer> partitions, Size size) {
    int count = size.pick(SMALL_LINES, DEFAULT_LINES) / PARTITIONS;
    lines = partitions.flatMap(partition -> Text.lines(partition, count)).cache();
    lines.count();
  }

  @Override
  long run() {
    return lines
        .flatMap(line -> Arrays.asList(line.split(" ")).iterator())
        .mapToPair(word -> new Tuple2<>(word, 1))
        .reduceByKey(Integer::sum)
        .map(counted -> Checksum.of(Checksum.of(counted._1()), counted._2()))
        .reduce(Long::sum);
  }
}
