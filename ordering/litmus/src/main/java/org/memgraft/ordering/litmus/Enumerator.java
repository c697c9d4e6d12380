package org.memgraft.ordering.litmus;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.memgraft.ordering.litmus.Program.Access;
import org.memgraft.ordering.litmus.Program.Between;
import org.memgraft.ordering.litmus.Program.Interlude;
import org.memgraft.ordering.litmus.Program.Monitor;
import org.memgraft.ordering.litmus.Program.Read;
import org.memgraft.ordering.litmus.Program.Step;
import org.memgraft.ordering.litmus.Program.Write;

/**
 * Finds every outcome of a program by going through every state that it can be in.
 *
 * <p>Under SC each step happens in memory at once. Under TSO a write goes to the end of its
 * thread's store buffer, from whose front it comes to memory at any later time, and a read takes
 * the newest value for its variable in its own thread's buffer, or else that of memory: the
 * abstract machine of Sewell et al. 2010, section 3.1, of whose locks only a fence is needed here.
 */
final class Enumerator {
  private static final int NOBODY = -1;

  /**
   * A write on its way to memory.
   *
   * @param fenced whether a fence is behind it
   */
  private record Pending(int variable, int value, boolean fenced) {}

  /** Everything that what happens next depends on. */
  private record State(
      List<Integer> done,
      List<Integer> memory,
      List<Integer> registers,
      List<List<Pending>> buffers,
      int holder) {}

  private final Program program;
  private final boolean buffered;
  private final Set<State> seen = new HashSet<>();
  private final Deque<State> ahead = new ArrayDeque<>();
  private final Set<List<Integer>> outcomes = new HashSet<>();

  private Enumerator(Program program, boolean buffered) {
    this.program = program;
    this.buffered = buffered;
  }

  /** The outcomes under sequential consistency: registers, then final values. */
  static Set<List<Integer>> sc(Program program) {
    return new Enumerator(program, false).run();
  }

  /** The outcomes under total store order. */
  static Set<List<Integer>> tso(Program program) {
    return new Enumerator(program, true).run();
  }

  private Set<List<Integer>> run() {
    int threads = program.threads().size();
    goTo(
        new State(
            Collections.nCopies(threads, 0),
            Collections.nCopies(program.variables().size(), 0),
            Collections.nCopies(program.registers(), 0),
            Collections.nCopies(threads, List.of()),
            NOBODY));
    while (!ahead.isEmpty()) {
      State state = ahead.pop();
      boolean ended = true;
      for (int thread = 0; thread < threads; thread++) {
        List<Step> steps = program.threads().get(thread);
        int next = state.done().get(thread);
        if (next < steps.size()) {
          ended = false;
          step(state, thread, steps.get(next));
        }
        if (!state.buffers().get(thread).isEmpty()) {
          ended = false;
          drain(state, thread);
        }
      }
      if (ended) {
        List<Integer> outcome = new ArrayList<>(state.registers());
        program.finals().forEach(variable -> outcome.add(state.memory().get(variable)));
        outcomes.add(List.copyOf(outcome));
      }
    }
    return outcomes;
  }

  private void step(State state, int thread, Step step) {
    List<Integer> done = with(state.done(), thread, state.done().get(thread) + 1);
    List<Pending> buffer = state.buffers().get(thread);
    if (!buffer.isEmpty() && buffer.get(buffer.size() - 1).fenced()) {
      return;
    }
    if (step instanceof Write write) {
      if (buffered) {
        List<Pending> longer = new ArrayList<>(buffer);
        boolean fenced = program.isVolatile(new Access(write.variable(), write.way()));
        longer.add(new Pending(write.variable(), write.value(), fenced));
        goTo(
            new State(
                done,
                state.memory(),
                state.registers(),
                with(state.buffers(), thread, List.copyOf(longer)),
                state.holder()));
      } else {
        List<Integer> memory = with(state.memory(), write.variable(), write.value());
        goTo(new State(done, memory, state.registers(), state.buffers(), state.holder()));
      }
    } else if (step instanceof Read read) {
      int value = state.memory().get(read.variable());
      for (Pending pending : buffer) {
        if (pending.variable() == read.variable()) {
          value = pending.value();
        }
      }
      List<Integer> registers = with(state.registers(), read.register(), value);
      goTo(new State(done, state.memory(), registers, state.buffers(), state.holder()));
    } else if (canGoOn(step, state, buffer)) {
      int holder = state.holder();
      if (step instanceof Monitor monitor) {
        holder = monitor == Monitor.TAKE ? thread : NOBODY;
      }
      goTo(new State(done, state.memory(), state.registers(), state.buffers(), holder));
    }
  }

  /** A lock is a fence, and its monitor must be free. */
  private static boolean canGoOn(Step step, State state, List<Pending> buffer) {
    if (step instanceof Interlude interlude) {
      return interlude.between() != Between.LOCK || buffer.isEmpty();
    }
    return buffer.isEmpty() && (step == Monitor.GIVE || state.holder() == NOBODY);
  }

  private void drain(State state, int thread) {
    List<Pending> buffer = state.buffers().get(thread);
    Pending oldest = buffer.get(0);
    goTo(
        new State(
            state.done(),
            with(state.memory(), oldest.variable(), oldest.value()),
            state.registers(),
            with(state.buffers(), thread, List.copyOf(buffer.subList(1, buffer.size()))),
            state.holder()));
  }

  private void goTo(State state) {
    if (seen.add(state)) {
      ahead.push(state);
    }
  }

  private static <T> List<T> with(List<T> list, int at, T value) {
    List<T> changed = new ArrayList<>(list);
    changed.set(at, value);
    return List.copyOf(changed);
  }
}
