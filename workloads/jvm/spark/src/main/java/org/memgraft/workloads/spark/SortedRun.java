package org.memgraft.workloads.spark;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.WorkloadFailure;
import scala.Tuple2;

/**
 * A partition of what was sorted; where one ends and the next begins is up to Spark.
 *
 * @param first its first key; null of an empty one, as is the last
 * @param disorder words for the first two keys in the wrong order, or null
 * @param sum of checksums of its pairs
 */
record SortedRun(String first, String last, String disorder, long sum) implements Serializable {

  static Iterator<SortedRun> of(Iterator<Tuple2<String, Integer>> pairs) {
    String first = null;
    String last = null;
    String disorder = null;
    long sum = 0;
    while (pairs.hasNext()) {
      Tuple2<String, Integer> pair = pairs.next();
      String key = pair._1();
      first = first == null ? key : first;
      disorder = disorder == null ? disorder(last, key) : disorder;
      last = key;
      sum += Checksum.of(Checksum.of(key), pair._2());
    }
    return List.of(new SortedRun(first, last, disorder, sum)).iterator();
  }

  /** All partitions' sum together, which each pair is in, whatever the order. */
  static long sumOf(List<SortedRun> runs) throws WorkloadFailure {
    String last = null;
    long sum = 0;
    for (SortedRun run : runs) {
      String disorder = run.disorder == null ? disorder(last, run.first) : run.disorder;
      if (disorder != null) {
        throw new WorkloadFailure("not sorted: " + disorder);
      }
      last = run.last == null ? last : run.last;
      sum += run.sum;
    }
    return sum;
  }

  private static String disorder(String before, String after) {
    boolean wrong = before != null && after != null && before.compareTo(after) > 0;
    return wrong ? "'%s' comes before '%s'".formatted(before, after) : null;
  }
}
