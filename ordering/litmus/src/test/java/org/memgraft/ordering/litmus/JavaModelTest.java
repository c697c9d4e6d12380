package org.memgraft.ordering.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.memgraft.ordering.litmus.JavaModel.Mode;

/**
 * The verdicts of the language's specification, of VarHandle's documentation and of jcstress's
 * samples.
 */
class JavaModelTest {
  private static Set<String> outcomes(String program, Mode mode) {
    return EnumeratorTest.digits(JavaModel.outcomes(Program.parse(program), mode));
  }

  /** Of all outcomes in which each read has a value that somebody writes to its variable. */
  private static Set<String> forbidden(String program, Mode mode) {
    Set<String> others = new TreeSet<>();
    Program parsed = Program.parse(program);
    int labels = parsed.labels().size();
    int values = parsed.largestValue() + 1;
    for (int number = 0; number < Math.pow(values, labels); number++) {
      StringBuilder outcome = new StringBuilder();
      for (int rest = number, i = 0; i < labels; i++, rest /= values) {
        outcome.insert(0, rest % values);
      }
      others.add(outcome.toString());
    }
    others.removeAll(outcomes(program, mode));
    return others;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '!',
      value = {
        "PLAIN   ! x=1; r0=y | y=1; r1=x                  !",
        "PLAIN   ! x=1; y=1 | r0=y; r1=x                  !",
        // JLS 17.4.8 forbids this only where a write depends on a read.
        "PLAIN   ! r0=x; y=1 | r1=y; x=1                  !",
        // jcstress's JMMSample_03_Coherence.SameRead: plain reads of one variable are not coherent.
        "PLAIN   ! x=1 | r0=x; r1=x                       !",
        "PLAIN   ! x=1 | y=1 | r0=x; r1=y | r2=y; r3=x    !",
        // A thread sees its own writes, and no write that it has not made yet.
        "PLAIN   ! x=1; r0=x | y=1; r1=y                  ! 00 01 10",
        "PLAIN   ! x=1; r0=x | x=2                        ! 0",
        "PLAIN   ! r0=x; x=1 | x=2                        ! 1",
        // What a thread overwrote itself does not stay.
        "PLAIN   ! x=1; x=2 | r0=x -> x                   ! 00 10 20 01 11 21",
        "PLAIN   ! x=1 | x=2 -> x                         ! 0",
        "OPAQUE  ! x=1; r0=y | y=1; r1=x                  !",
        "OPAQUE  ! x=1; y=1 | r0=y; r1=x                  !",
        // Lea 2018: what opaque orders, it orders within one variable.
        "OPAQUE  ! r0=x; y=1 | r1=y; x=1                  !",
        "OPAQUE  ! x=1 | r0=x; r1=x                       ! 10",
        "OPAQUE  ! x=1; x=2 | r0=x; r1=x                  ! 10 20 21",
        "OPAQUE  ! x=1; r0=x | x=2 -> x                   ! 00 01 02 10 20 21",
        "OPAQUE  ! x=1 | y=1 | r0=x; r1=y | r2=y; r3=x    !",
        "RELEASE_ACQUIRE ! x=1; r0=y | y=1; r1=x          !",
        // jcstress's JMMSample_06_Causality.AcqRelGuard.
        "RELEASE_ACQUIRE ! x=1; y=1 | r0=y; r1=x          ! 10",
        "RELEASE_ACQUIRE ! r0=x; y=1 | r1=y; x=1          ! 11",
        "RELEASE_ACQUIRE ! x=1 | r0=x; y=1 | r1=y; r2=x   ! 110",
        // Independent readers need not agree, nor need two who write two variables each.
        "RELEASE_ACQUIRE ! x=1 | y=1 | r0=x; r1=y | r2=y; r3=x !",
        "RELEASE_ACQUIRE ! x=1; y=2 | y=1; x=2 -> x y     ! 00 01 02 10 20",
        "VOLATILE ! x=1; r0=y | y=1; r1=x                 ! 00",
        // A volatile flag orders plain data; volatile data is not ordered by a plain flag.
        "PLAIN   ! x=1; v=1 | r0=v; r1=x                  ! 10",
        "PLAIN   ! v=1; y=1 | r0=y; r1=v                  !",
        "PLAIN   ! v=1; r0=y | y=1; r1=v                  !",
        "PLAIN   ! v=1; r0=vv | vv=1; r1=v                ! 00",
        "PLAIN   ! x=1; v=1 | r0=v; vv=1 | r1=vv; r2=x    ! 110",
        "PLAIN   ! v=1 | r0=v; r1=v -> v                  ! 000 010 100 110 101",
        "PLAIN   ! x=1; v=1 | x=2 | r0=v; r1=x            ! 10 20 21 22",
        "PLAIN   ! take; x=1; r0=y; give | take; y=1; r1=x; give     ! 00 11",
        "PLAIN   ! x=1; take; y=1; give | take; r0=y; give; r1=x     ! 10",
        "PLAIN   ! take; x=1; y=1; give | r0=y; r1=x      !",
        "PLAIN   ! take; x=1; give; r0=y | y=1; take; r1=x; give     ! 00",
        "PLAIN   ! v=1 | vv=1 | r0=v; r1=vv | r2=vv; r3=v ! 1010",
        // Modes beside plain accesses of the same variable.
        "PLAIN   ! x=1; y=1 by release | r0=y by acquire; r1=x         ! 10",
        "PLAIN   ! x=1; y=1 by release | r0=y by opaque; r1=x          !",
        "PLAIN   ! x=1; y=1 by opaque | r0=y by acquire; r1=x          !",
        "PLAIN   ! x=1; y=1 by release | r0=y; r1=x                    !",
        "PLAIN   ! x=1; y=1 by volatile | r0=y by acquire; r1=x        ! 10",
        "PLAIN   ! x=1; y=1; y=2 by release | r0=y by acquire; r1=x    ! 02 12 20 22",
        "PLAIN   ! x=1; y=2 by release; y=1 | r0=y by acquire; r1=x    ! 02 12 20 22",
        "PLAIN   ! x=1 by volatile; r0=y by volatile | y=1 by volatile; r1=x by volatile ! 00",
        "PLAIN   ! x=1 by release; r0=y by volatile | y=1 by volatile; r1=x by volatile  !",
        "PLAIN   ! x=1 | r0=x by opaque; r1=x by opaque                ! 10",
        "PLAIN   ! x=1 | r0=x by opaque; r1=x                          !",
        "PLAIN   ! x=1; x=2 | r0=x by opaque; r1=x by opaque           ! 10 20 21",
        "PLAIN   ! x=1 | r0=x by volatile; r1=x by volatile            ! 10",
        "PLAIN   ! x=1 | x=2 by volatile; r0=x by volatile             ! 0",
        "PLAIN   ! v=1 by opaque; r0=vv | vv=1; r1=v                   !",
        "PLAIN   ! x=1; v=1 by release | r0=v; r1=x                    ! 10",
        "PLAIN   ! x=1; v=1 | r0=v by opaque; r1=x                     !",
        "PLAIN   ! take; x=1; give; take; y=1; give | take; r0=y; r1=x; give ! 10",
        "VOLATILE ! x=1; y=1 | r0=y; r1=x                 ! 10",
      })
  void forbids(Mode mode, String program, String outcomes) {
    Set<String> expected =
        outcomes == null ? Set.of() : new TreeSet<>(List.of(outcomes.split(" ")));
    assertEquals(expected, forbidden(program, mode));
  }

  /** Each mode orders at least as much as the one before it, and none what x86's buffers do not. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "x=1; r0=y | y=1; r1=x",
        "x=1; r0=y; r1=x | x=2; y=1 -> x",
        "x=1; r0=x; r1=y | y=2; x=2 -> x",
        "x=1; x=2 | r0=x; r1=x -> x",
        "x=1 | r0=x; y=1 | r1=y; r2=x",
        "x=1; y=2 | y=1; x=2 -> x y",
      })
  void modesAreInARow(String program) {
    Program parsed = Program.parse(program);
    Set<List<Integer>> weaker = JavaModel.outcomes(parsed, Mode.PLAIN);
    assertTrue(weaker.containsAll(Enumerator.tso(parsed)), program);
    for (Mode mode : List.of(Mode.OPAQUE, Mode.RELEASE_ACQUIRE, Mode.VOLATILE)) {
      Set<List<Integer>> stronger = JavaModel.outcomes(parsed, mode);
      assertTrue(weaker.containsAll(stronger), program + mode);
      weaker = stronger;
    }
  }
}
