package org.memgraft.workloads.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.spark.mllib.linalg.Vector;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** What is made up is the same each time, and what the checksums rely on. */
class MadeUpTest {
  private static <T> List<T> all(Iterator<T> each) {
    List<T> list = new ArrayList<>();
    each.forEachRemaining(list::add);
    return list;
  }

  @Test
  void wordsDiffer() {
    Set<String> words = new HashSet<>();
    IntStream.range(0, Text.VOCABULARY).forEach(number -> words.add(Text.word(number)));
    assertEquals(Text.VOCABULARY, words.size());
  }

  @Test
  void textIsTheSameAgainAndAnotherInAnotherPartition() {
    List<String> lines = all(Text.lines(3, 100));
    assertEquals(100, lines.size());
    assertEquals(lines, all(Text.lines(3, 100)));
    assertEquals(200, new HashSet<>(all(Text.lines(4, 200))).size());
    lines.retainAll(all(Text.lines(4, 100)));
    assertEquals(List.of(), lines);
  }

  @Test
  void sumsOfCoordinatesAreExact() {
    List<Vector> points = all(Points.clouds(1, 1000, 10, 20));
    assertEquals(points, all(Points.clouds(1, 1000, 10, 20)));
    for (Vector point : points) {
      for (double coordinate : point.toArray()) {
        assertEquals(Math.rint(coordinate * Points.GRAIN), coordinate * Points.GRAIN);
        assertTrue(Math.abs(coordinate) <= 16, point::toString);
      }
    }
  }

  @Test
  void pointsAreOnBothSides() {
    List<Tuple2<Object, Vector>> points = all(Points.sides(1, 1000, 20));
    long right = points.stream().filter(point -> point._1().equals(1.0)).count();
    assertTrue(right > 300 && right < 700, Long.toString(right));
  }
}
