package org.memgraft.workloads.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.memgraft.workloads.harness.WorkloadFailure;
import scala.Tuple2;

class SortedRunTest {
  private static SortedRun run(String... keys) {
    return SortedRun.of(Arrays.stream(keys).map(key -> new Tuple2<>(key, key.length())).iterator())
        .next();
  }

  @Test
  void doesNotDependOnWhereRunsEnd() throws WorkloadFailure {
    long whole = SortedRun.sumOf(List.of(run("a", "b", "b", "cc")));
    assertEquals(whole, SortedRun.sumOf(List.of(run("a", "b"), run(), run("b", "cc"), run())));
  }

  @Test
  void everyPairCounts() throws WorkloadFailure {
    long whole = SortedRun.sumOf(List.of(run("a", "b", "b")));
    assertNotEquals(whole, SortedRun.sumOf(List.of(run("a", "b"))));
    assertNotEquals(whole, SortedRun.sumOf(List.of(run("a", "b", "c"))));
  }

  @Test
  void findsTheWrongOrderWithinARunAndBetweenTwo() {
    Stream.of(
            List.of(run("a", "c", "b", "d")),
            List.of(run("a", "c"), run("b", "d")),
            List.of(run("a", "c"), run(), run("b")))
        .forEach(
            runs -> {
              WorkloadFailure found =
                  assertThrows(WorkloadFailure.class, () -> SortedRun.sumOf(runs));
              assertEquals("not sorted: 'c' comes before 'b'", found.getMessage());
            });
  }
}
