package org.memgraft.workloads.spark;

import java.util.Arrays;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.mllib.linalg.Vector;
import org.apache.spark.mllib.linalg.Vectors;
import org.apache.spark.mllib.optimization.LBFGS;
import org.apache.spark.mllib.optimization.LogisticGradient;
import org.apache.spark.mllib.optimization.SquaredL2Updater;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.Size;
import scala.Tuple2;

/** Logistic regression with MLlib's L-BFGS, ten steps of it. */
public final class SparkRegression extends SparkApplication {
  private static final int DIMENSIONS = 20;
  private static final int STEPS = 10;
  private static final int CORRECTIONS = 10;
  private static final double TOLERANCE = 1e-9;
  private static final double REGULARISATION = 0.01;
  private static final int SMALL_POINTS = 2_000;
  private static final int DEFAULT_POINTS = 80_000;

  /**
   * To so many parts of one weights are compared. Their last digits depend on the order in which
   * threads end, which is that of the additions.
   */
  private static final double COMPARED = 1000;

  private JavaRDD<Tuple2<Object, Vector>> points;

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("862df4da2fc570a2", "6ba502fefd508778");
  }

  @Override
  void load(JavaRDD<Integer> partitions, Size size) {
    int count = size.pick(SMALL_POINTS, DEFAULT_POINTS) / PARTITIONS;
    points = partitions.flatMap(partition -> Points.sides(partition, count, DIMENSIONS)).cache();
    points.count();
  }

  @Override
  long run() {
    double[] weights =
        LBFGS
            .runLBFGS(
                points.rdd(),
                new LogisticGradient(),
                new SquaredL2Updater(),
                CORRECTIONS,
                TOLERANCE,
                STEPS,
                REGULARISATION,
                Vectors.zeros(DIMENSIONS))
            ._1()
            .toArray();
    return Checksum.of(
        Arrays.stream(weights).mapToLong(weight -> Math.round(weight * COMPARED)).toArray());
  }
}
