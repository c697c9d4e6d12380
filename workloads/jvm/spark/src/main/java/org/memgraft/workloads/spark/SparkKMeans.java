package org.memgraft.workloads.spark;

import java.util.Arrays;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.mllib.clustering.KMeans;
import org.apache.spark.mllib.linalg.Vector;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.Size;

/** Finds clusters of points with MLlib's k-means, ten rounds of it. */
public final class SparkKMeans extends SparkApplication {
  private static final int CLUSTERS = 10;
  private static final int DIMENSIONS = 20;
  private static final int ROUNDS = 10;
  private static final int SMALL_POINTS = 2_000;
  private static final int DEFAULT_POINTS = 80_000;

  private JavaRDD<Vector> points;

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("8a8c8307572755bd", "b9bed652dbe20de5");
  }

  @Override
  void load(JavaRDD<Integer> partitions, Size size) {
    int count = size.pick(SMALL_POINTS, DEFAULT_POINTS) / PARTITIONS;
    points =
        partitions
            .flatMap(partition -> Points.clouds(partition, count, CLUSTERS, DIMENSIONS))
            .cache();
    points.count();
  }

  /** Of the centres to the last bit: what is added up is exact. */
  @Override
  long run() {
    Vector[] centres =
        new KMeans()
            .setK(CLUSTERS)
            .setInitializationMode(KMeans.RANDOM())
            .setSeed(1)
            .setMaxIterations(ROUNDS)
            .setEpsilon(0)
            .run(points.rdd())
            .clusterCenters();
    return Checksum.of(
        Arrays.stream(centres)
            .flatMapToDouble(centre -> Arrays.stream(centre.toArray()))
            .mapToLong(Double::doubleToLongBits)
            .toArray());
  }
}
