package org.memgraft.ordering.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class SuiteTest {
  private static final List<Litmus> RANDOM = Suite.random(60, 1);

  static Stream<Litmus> tests() {
    return Stream.concat(Suite.all().stream(), RANDOM.stream());
  }

  private static Litmus called(String id) {
    return tests().filter(test -> test.id().equals(id)).findFirst().orElseThrow();
  }

  @Test
  void idsAreDifferent() {
    Set<String> ids = new HashSet<>();
    tests().forEach(test -> assertTrue(ids.add(test.id()), test.id()));
  }

  /** One thread after the other, in every order: that the class says what the program says. */
  @ParameterizedTest
  @MethodSource("tests")
  void threadsOneAfterTheOtherAreSequentiallyConsistent(Litmus test) {
    Race race = test.race().get();
    Set<String> seen = new HashSet<>();
    for (List<Integer> order : orders(test.threads())) {
      Object[] instances = new Object[race.batch()];
      for (int i = 0; i < instances.length; i++) {
        instances[i] = race.fresh();
        race.reset(instances, i);
      }
      long[][] results = new long[test.threads()][];
      for (int thread : order) {
        results[thread] = new long[race.batch() * test.registersOf().get(thread).size()];
        race.sweep(thread, instances, results[thread], 0, race.batch());
      }
      Outcomes outcomes = new Outcomes(test);
      for (int i = 0; i < instances.length; i++) {
        outcomes.count(values(test, race, instances, results, i));
      }
      assertEquals(race.batch(), outcomes.all());
      assertEquals(0, outcomes.notSc(), () -> test.id() + order + outcomes.seen());
      assertEquals(0, outcomes.notJava(), () -> test.id() + order + outcomes.seen());
      outcomes.seen().forEach(one -> seen.add(one.text()));
    }
    assertTrue(!seen.isEmpty());
    // The two orders differ in what is read wherever the threads have variables in common.
    if (!List.of("atomic", "tearing", "double-checked", "2+2w", "dekker", "peterson")
            .contains(test.name())
        && !test.name().startsWith("random-")) {
      assertTrue(seen.size() > 1, () -> test.id() + " is always " + seen);
    }
  }

  /** What the model says of the races, and not only of the programs that they are made of. */
  @ParameterizedTest
  @CsvSource({
    "sb/field-int, 00, true",
    "sb/handle-release, 00, true",
    "sb/volatile-int, 00, false",
    "mp/field-int, 10, true",
    "mp/handle-plain, 10, true",
    "mp/handle-opaque, 10, true",
    "mp/handle-release, 10, false",
    "mp/lazyset, 10, false",
    "mp/reflection, 10, true",
    "mp/volatile-int, 10, false",
    "publication/object, 10, true",
    // One of the two makes the object, and sees all of it.
    "double-checked/object, 10, true",
    "double-checked/object, 00, false",
    // Both may come in and count one; but a count is none of nobody, nor is one who comes in lost.
    "dekker/field-int, 111, true",
    "dekker/field-int, 112, true",
    "dekker/field-int, 110, false",
    "dekker/field-int, 001, false",
    "peterson/field-int, 100, false",
  })
  void eachRaceHasTheVerdictOfItsVariables(String id, String outcome, boolean allowed) {
    List<Integer> values = outcome.chars().mapToObj(Character::getNumericValue).toList();
    assertEquals(allowed, called(id).grading().isJava(values));
  }

  @Test
  void whereAllIsVolatileTheModelAllowsWhatIsSequentiallyConsistent() {
    List<Litmus> races = tests().filter(test -> test.id().endsWith("/volatile-int")).toList();
    assertTrue(races.size() > 4);
    for (Litmus race : races) {
      int labels = race.labels().size();
      for (int bits = 0; bits < 1 << labels; bits++) {
        int outcome = bits;
        List<Integer> values = IntStream.range(0, labels).mapToObj(i -> outcome >> i & 1).toList();
        assertEquals(
            race.grading().of(values) == Grade.SC,
            race.grading().isJava(values),
            () -> race.id() + values);
      }
    }
  }

  /** Even where the rest of the outcome would be. */
  @Test
  void aValueThatNobodyWroteIsNotAllowed() {
    Outcomes outcomes = new Outcomes(called("double-checked/object"));
    outcomes.count(new int[] {1, Type.NONE});
    assertEquals(1, outcomes.notJava());
  }

  private static int[] values(
      Litmus test, Race race, Object[] instances, long[][] results, int instance) {
    int[] values = new int[test.labels().size()];
    for (int thread = 0; thread < test.threads(); thread++) {
      List<Integer> registers = test.registersOf().get(thread);
      for (int k = 0; k < registers.size(); k++) {
        long raw = results[thread][instance * registers.size() + k];
        values[registers.get(k)] = test.type().value(raw);
      }
    }
    long[] finals = new long[values.length - test.registers()];
    race.finals(instances, instance, finals);
    for (int k = 0; k < finals.length; k++) {
      values[test.registers() + k] = test.type().value(finals[k]);
    }
    return values;
  }

  private static List<List<Integer>> orders(int threads) {
    List<List<Integer>> orders = new ArrayList<>();
    orders.add(List.of());
    for (int thread = 0; thread < threads; thread++) {
      List<List<Integer>> longer = new ArrayList<>();
      for (List<Integer> order : orders) {
        for (int at = 0; at <= order.size(); at++) {
          List<Integer> more = new ArrayList<>(order);
          more.add(at, thread);
          longer.add(more);
        }
      }
      orders.clear();
      orders.addAll(longer);
    }
    return orders;
  }
}
