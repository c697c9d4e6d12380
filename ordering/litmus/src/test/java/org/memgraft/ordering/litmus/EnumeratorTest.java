package org.memgraft.ordering.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The textbook's answers. */
class EnumeratorTest {

  /** Outcomes as strings of digits: registers, then final values. */
  static Set<String> digits(Set<List<Integer>> outcomes) {
    Set<String> all = new TreeSet<>();
    for (List<Integer> outcome : outcomes) {
      StringBuilder digits = new StringBuilder();
      outcome.forEach(digits::append);
      all.add(digits.toString());
    }
    return all;
  }

  private static Set<String> sc(String program) {
    return digits(Enumerator.sc(Program.parse(program)));
  }

  private static Set<String> tso(String program) {
    return digits(Enumerator.tso(Program.parse(program)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '!',
      value = {
        "x=1; r0=y | y=1; r1=x                         ! 01 10 11",
        "x=1; y=1 | r0=y; r1=x                         ! 00 01 11",
        "r0=x; y=1 | r1=y; x=1                         ! 00 01 10",
        "x=1; y=1 | y=2; r0=x -> y                     ! 01 11 12",
        "x=2; y=1 | r0=y; x=1 -> x                     ! 01 02 11",
        "x=1; y=2 | y=1; x=2 -> x y                    ! 12 21 22",
        "x=1 | r0=x; r1=x                              ! 00 01 11",
        "x=1; r0=x | x=2 -> x                          ! 11 12 22",
        "r0=x; x=1 | x=2 -> x                          ! 01 02 21",
        "x=1 | y=1 -> x y                              ! 11",
        "take; x=1; r0=y; give | take; y=1; r1=x; give ! 01 10",
      })
  void sequentialConsistency(String program, String outcomes) {
    assertEquals(new TreeSet<>(List.of(outcomes.split(" "))), sc(program));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '!',
      value = {
        "x=1; r0=y | y=1; r1=x                         ! 00",
        "x=1; y=1 | y=2; r0=x -> y                     ! 02",
        "x=1; r0=y | y=1; r1=z | z=1; r2=x             ! 000",
        // n6 and n5's cousin, Sewell et al. 2010, section 2: stores forwarded to their own thread.
        "x=1; r0=x; r1=y | y=2; x=2 -> x               ! 101",
        "x=1; r0=x; r1=y | y=1; r2=y; r3=x             ! 1010",
        "x=1 | r0=x; r1=y | y=1; r2=x                  ! 100",
        // One side has its fence.
        "v=1; r0=y | y=1; r1=v                         ! 00",
        "x=1 by release; r0=y | y=1; r1=x              ! 00",
        "v=1 by release; r0=vv | vv=1; r1=v            ! 00",
      })
  void whatOnlyStoreBuffersShow(String program, String outcomes) {
    Set<String> more = tso(program);
    more.removeAll(sc(program));
    assertEquals(Set.of(outcomes.split(" ")), more);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x=1; y=1 | r0=y; r1=x",
        "r0=x; y=1 | r1=y; x=1",
        "x=2; y=1 | r0=y; x=1 -> x",
        "x=1; y=2 | y=1; x=2 -> x y",
        "x=1 | r0=x; r1=x",
        "x=1; r0=x | x=2 -> x",
        "x=1; x=2 | r0=x; r1=x -> x",
        "x=1 | r0=x; y=1 | r1=y; r2=x",
        "x=1 | y=1 | r0=x; r1=y | r2=y; r3=x",
        "x=1; r0=y; r1=x | x=2; y=1 -> x",
        "x=1; lock; r0=y | y=1; lock; r1=x",
        "v=1; r0=vv | vv=1; r1=v",
        "x=1 by volatile; r0=y | y=1 by volatile; r1=x",
        "x=1; v=1; r0=y | y=1; v=2; r1=x",
      })
  void whereStoreBuffersShowNothing(String program) {
    assertEquals(sc(program), tso(program));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x=1; fresh; r0=y | y=1; away; r1=x",
        "x=1; lock; r0=y | y=1; r1=x",
        "x=1; elided; r0=y | y=1; volatile; r1=x",
      })
  void onlyALockOnBothSidesIsAFence(String program) {
    assertTrue(tso(program).contains("00"), program);
  }

  @Test
  void independentReadersAgree() {
    Set<String> outcomes = sc("x=1 | y=1 | r0=x; r1=y | r2=y; r3=x");
    assertEquals(15, outcomes.size());
    assertTrue(!outcomes.contains("1010"));
  }

  @Test
  void scIsAlwaysWithinTso() {
    for (Litmus litmus : Suite.all()) {
      assertTrue(litmus.threads() >= 2, litmus.id());
    }
    for (String program : List.of("x=1; r0=y | y=1; r1=x", "x=1; x=2 | r0=x; r1=x -> x")) {
      assertTrue(tso(program).containsAll(sc(program)), program);
    }
  }
}
