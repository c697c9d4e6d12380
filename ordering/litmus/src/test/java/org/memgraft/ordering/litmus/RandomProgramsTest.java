package org.memgraft.ordering.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.memgraft.ordering.litmus.JavaModel.Mode;

class RandomProgramsTest {
  private static final int MANY = 200;
  private static final int FEW = 9;
  private static final int MOST_STEPS_TO_ORDER = 8;

  private static final List<String> PROGRAMS = programs(MANY, 1);

  private static List<String> programs(int count, long seed) {
    return Suite.random(count, seed).stream().map(Litmus::summary).toList();
  }

  @Test
  void theSeedDecides() {
    assertEquals(PROGRAMS.subList(0, FEW), programs(FEW, 1));
    assertNotEquals(PROGRAMS.subList(0, FEW), programs(FEW, 2));
  }

  @Test
  void theyHaveWhatProgramsMayHave() {
    assertTrue(new HashSet<>(PROGRAMS).size() > MANY * 9 / 10);
    for (String some :
        List.of(
            " by fill",
            " by clone",
            "v=",
            "vv=",
            "lock",
            "take;",
            "->",
            "r3=",
            " by acquire",
            " by release",
            " by opaque",
            " by volatile")) {
      assertTrue(PROGRAMS.stream().anyMatch(text -> text.contains(some)), some);
    }
    assertTrue(PROGRAMS.stream().anyMatch(text -> text.matches(".*give[^|]*give.*")));
    assertTrue(PROGRAMS.stream().anyMatch(text -> text.split("\\|").length == 3));
  }

  /** The models against each other: each allows what a stronger one does. */
  @Test
  void whatAStrongerModelAllowsAWeakerOneDoes() {
    int weaker = 0;
    int orderedByVolatiles = 0;
    int orderedByModes = 0;
    int compared = 0;
    for (String text : PROGRAMS) {
      Program program = Program.parse(text);
      Set<List<Integer>> sc = Enumerator.sc(program);
      Set<List<Integer>> tso = Enumerator.tso(program);
      Set<List<Integer>> java = JavaModel.outcomes(program, Mode.PLAIN);
      assertTrue(tso.containsAll(sc), text);
      assertTrue(java.containsAll(tso), text);
      weaker += java.size() > tso.size() ? 1 : 0;
      String withoutModes = text.replaceAll(" by (opaque|acquire|release|volatile)", "");
      Set<List<Integer>> plainer = JavaModel.outcomes(Program.parse(withoutModes), Mode.PLAIN);
      if (!text.contains("v")) {
        assertTrue(plainer.containsAll(java), text);
        orderedByModes += plainer.size() > java.size() ? 1 : 0;
      }
      Program plain = Program.parse(withoutModes.replaceAll("\\bvv?\\b", "p$0"));
      Set<List<Integer>> unordered = JavaModel.outcomes(plain, Mode.PLAIN);
      assertTrue(unordered.containsAll(java), text);
      orderedByVolatiles += unordered.size() > java.size() ? 1 : 0;
      Program ordered = Program.parse(withoutModes.replaceAll("\\b[xy]\\b", "v$0"));
      // The orders of all that is volatile then soon are too many.
      if (ordered.threads().stream().mapToInt(List::size).sum() <= MOST_STEPS_TO_ORDER) {
        assertEquals(sc, JavaModel.outcomes(ordered, Mode.PLAIN), text);
        compared++;
      }
    }
    assertTrue(weaker > MANY / 4, "weaker: " + weaker);
    assertTrue(compared > MANY / 2, "compared: " + compared);
    assertTrue(orderedByModes > 0, "ordered by modes: " + orderedByModes);
    assertTrue(orderedByVolatiles > MANY / 15, "ordered by volatiles: " + orderedByVolatiles);
  }
}
