package org.memgraft.workloads.spark;

import java.util.Iterator;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.mllib.linalg.Vector;
import org.apache.spark.mllib.linalg.Vectors;
import scala.Tuple2;

/** Makes up points. */
final class Points {
  /**
   * All coordinates are multiples of 1/64, and small: sums of millions are exact, and so the same
   * in whatever order threads add.
   */
  static final int GRAIN = 64;

  private static final int SPREAD = 8;

  private Points() {}

  /** Points around some centres, as many around each. */
  static Iterator<Vector> clouds(int partition, int count, int centres, int dimensions) {
    Random random = new Random(partition);
    return IntStream.range(0, count)
        .mapToObj(number -> around(centre(number % centres, dimensions), random))
        .iterator();
  }

  /** Of each cloud always the same. */
  private static double[] centre(int cloud, int dimensions) {
    return new Random(-1 - cloud)
        .ints(dimensions, -SPREAD, SPREAD)
        .mapToDouble(each -> each)
        .toArray();
  }

  private static Vector around(double[] centre, Random random) {
    double[] point = centre.clone();
    for (int i = 0; i < point.length; i++) {
      point[i] += (random.nextInt(2 * SPREAD * GRAIN) - SPREAD * GRAIN) / (double) GRAIN;
    }
    return Vectors.dense(point);
  }

  /** Points on both sides of a plane, each with its side: 1 or 0, some of them the wrong one. */
  static Iterator<Tuple2<Object, Vector>> sides(int partition, int count, int dimensions) {
    Random random = new Random(partition);
    return IntStream.range(0, count).mapToObj(number -> side(random, dimensions)).iterator();
  }

  private static Tuple2<Object, Vector> side(Random random, int dimensions) {
    double[] point = random.doubles(dimensions, -1, 1).toArray();
    double height = random.nextDouble() - 0.5;
    for (int i = 0; i < dimensions; i++) {
      height += point[i] * (i % 2 == 0 ? i : -i) / dimensions;
    }
    return new Tuple2<>(height > 0 ? 1.0 : 0.0, Vectors.dense(point));
  }
}
