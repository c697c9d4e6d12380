package org.memgraft.ordering.litmus;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.memgraft.ordering.litmus.Program.Monitor;
import org.memgraft.ordering.litmus.Program.Read;
import org.memgraft.ordering.litmus.Program.Step;
import org.memgraft.ordering.litmus.Program.Write;

/**
 * Finds every outcome of a program that the Java memory model allows.
 *
 * <p>Of plain accesses, a read may see a write that does not happen after it, unless another write
 * to the same variable happens between the two: <i>The Java Language Specification</i>, 17.4.5.
 * Modes that order more are those of VarHandle (its documentation, and Lea 2018, <i>Using JDK 9
 * Memory Order Modes</i>). The model also forbids values out of thin air (17.4.8). No program here
 * needs that: each writes constants, so that no write depends on a read.
 *
 * <p>Accesses of volatile variables, and what is done to the monitor, are in one row (17.4.4): each
 * read sees the write before, and that and all earlier ones happen before it; whoever takes the
 * monitor comes after all who gave it.
 */
final class JavaModel {
  /** In which mode all accesses of a program are, but for those of volatile variables. */
  enum Mode {
    PLAIN,
    /** Each variable by itself is sequentially consistent, and nothing causes itself. */
    OPAQUE,
    /** Also, what came before a write happens before what comes after a read that sees it. */
    RELEASE_ACQUIRE,
    /** Sequentially consistent. */
    VOLATILE
  }

  private enum Kind {
    WRITE,
    READ,
    TAKE,
    GIVE
  }

  /**
   * Final values are read when all else is done.
   *
   * @param variable or NO_VARIABLE
   * @param value the number of the register where it is a read
   */
  private record Event(int thread, int variable, Kind kind, int value) {
    boolean write() {
      return kind == Kind.WRITE;
    }

    boolean read() {
      return kind == Kind.READ;
    }
  }

  private static final int NO_THREAD = -1;
  private static final int NO_VARIABLE = -1;

  private final Program program;
  private final Mode mode;
  private final List<Event> events = new ArrayList<>();
  private final BitSet[] programOrder;

  /** What is done to volatile variables and the monitor, in the row that it is in. */
  private final List<Integer> row = new ArrayList<>();

  private final BitSet rowed = new BitSet();

  /** For each read the number of the write that it sees. */
  private final int[] seen;

  private final Set<List<Integer>> outcomes =
      new TreeSet<>((a, b) -> a.toString().compareTo(b.toString()));

  private JavaModel(Program program, Mode mode) {
    this.program = program;
    this.mode = mode;
    collect();
    programOrder = programOrder();
    seen = new int[events.size()];
  }

  /** The outcomes: registers, then final values. */
  static Set<List<Integer>> outcomes(Program program, Mode mode) {
    if (mode == Mode.VOLATILE) {
      return Enumerator.sc(program);
    }
    JavaModel model = new JavaModel(program, mode);
    model.goThroughRows();
    return model.outcomes;
  }

  private void collect() {
    for (int variable = 0; variable < program.variables().size(); variable++) {
      events.add(new Event(NO_THREAD, variable, Kind.WRITE, 0));
    }
    for (int thread = 0; thread < program.threads().size(); thread++) {
      for (Step step : program.threads().get(thread)) {
        if (step instanceof Write write) {
          events.add(new Event(thread, write.variable(), Kind.WRITE, write.value()));
        } else if (step instanceof Read read) {
          events.add(new Event(thread, read.variable(), Kind.READ, read.register()));
        } else if (step instanceof Monitor monitor) {
          Kind kind = monitor == Monitor.TAKE ? Kind.TAKE : Kind.GIVE;
          events.add(new Event(thread, NO_VARIABLE, kind, 0));
        }
      }
    }
    for (int i = 0; i < program.finals().size(); i++) {
      int label = program.registers() + i;
      events.add(new Event(NO_THREAD, program.finals().get(i), Kind.READ, label));
    }
    for (int event = 0; event < events.size(); event++) {
      int variable = events.get(event).variable();
      rowed.set(event, variable == NO_VARIABLE || program.isVolatile(variable));
    }
  }

  /** What happens before what as the threads are started, run and joined. */
  private BitSet[] programOrder() {
    BitSet[] order = new BitSet[events.size()];
    for (int a = 0; a < order.length; a++) {
      order[a] = new BitSet();
      for (int b = 0; b < order.length; b++) {
        order[a].set(b, phase(a) < phase(b) || a < b && thread(a) >= 0 && thread(a) == thread(b));
      }
    }
    return order;
  }

  private int thread(int event) {
    return events.get(event).thread();
  }

  private int phase(int event) {
    Event one = events.get(event);
    if (one.thread() != NO_THREAD) {
      return 1;
    }
    return one.write() ? 0 : 2;
  }

  /** Goes through all rows that begin like this one. */
  private void goThroughRows() {
    if (row.size() == rowed.cardinality()) {
      choose(0);
      return;
    }
    for (int next = rowed.nextSetBit(0); next >= 0; next = rowed.nextSetBit(next + 1)) {
      if (canFollow(next)) {
        if (events.get(next).read()) {
          seen[next] = lastWriteInRow(events.get(next).variable());
        }
        row.add(next);
        goThroughRows();
        row.remove(row.size() - 1);
      }
    }
  }

  private boolean canFollow(int event) {
    if (events.get(event).kind() == Kind.TAKE && count(Kind.TAKE) > count(Kind.GIVE)) {
      return false;
    }
    return !row.contains(event)
        && rowed.stream().allMatch(other -> !programOrder[other].get(event) || row.contains(other));
  }

  /** How many there are in the row so far. */
  private long count(Kind kind) {
    return row.stream().filter(event -> events.get(event).kind() == kind).count();
  }

  /** The variable's first one, 0, comes before all reads. */
  private int lastWriteInRow(int variable) {
    int last = -1;
    for (int event : row) {
      last = isWriteTo(variable, event) ? event : last;
    }
    return last;
  }

  /** What is later in the row, and synchronizes with what is earlier. */
  private void addRow(BitSet[] order) {
    for (int i = 0; i < row.size(); i++) {
      for (int later : row.subList(i, row.size())) {
        if (synchronizes(row.get(i), later)) {
          order[row.get(i)].set(later);
        }
      }
    }
  }

  private boolean synchronizes(int earlier, int later) {
    Event end = events.get(later);
    return end.read() && isWriteTo(end.variable(), earlier)
        || end.kind() == Kind.TAKE && events.get(earlier).kind() == Kind.GIVE;
  }

  /** Goes through all that the reads from this event on may see. */
  private void choose(int event) {
    if (event == events.size()) {
      addIfAllowed();
      return;
    }
    if (!events.get(event).read() || rowed.get(event)) {
      choose(event + 1);
      return;
    }
    for (int write = 0; write < events.size(); write++) {
      if (isWriteTo(events.get(event).variable(), write)) {
        seen[event] = write;
        choose(event + 1);
      }
    }
  }

  private boolean isWriteTo(int variable, int event) {
    return events.get(event).write() && events.get(event).variable() == variable;
  }

  private void addIfAllowed() {
    BitSet[] before = happensBefore();
    if (before != null && isConsistent(before) && isCoherent(before)) {
      Integer[] outcome = new Integer[program.registers() + program.finals().size()];
      for (int event = 0; event < events.size(); event++) {
        Event read = events.get(event);
        if (read.read()) {
          outcome[read.value()] = events.get(seen[event]).value();
        }
      }
      outcomes.add(List.of(outcome));
    }
  }

  /** Null where something would happen before itself, or cause itself. */
  private BitSet[] happensBefore() {
    BitSet[] before = copy(programOrder);
    addRow(before);
    if (mode == Mode.RELEASE_ACQUIRE) {
      addWhatIsSeen(before);
    }
    close(before);
    BitSet[] causes = copy(programOrder);
    if (mode == Mode.OPAQUE) {
      addWhatIsSeen(causes);
      close(causes);
    }
    for (int event = 0; event < before.length; event++) {
      if (before[event].get(event) || causes[event].get(event)) {
        return null;
      }
    }
    return before;
  }

  private void addWhatIsSeen(BitSet[] order) {
    for (int event = 0; event < events.size(); event++) {
      // Also a thread's own write: that is before the read already, or not allowed.
      if (events.get(event).read()) {
        order[seen[event]].set(event);
      }
    }
  }

  private static BitSet[] copy(BitSet[] order) {
    BitSet[] copy = new BitSet[order.length];
    for (int event = 0; event < order.length; event++) {
      copy[event] = (BitSet) order[event].clone();
    }
    return copy;
  }

  /** Adds what follows: after this, before of before is before. */
  private static void close(BitSet[] order) {
    for (int middle = 0; middle < order.length; middle++) {
      for (BitSet after : order) {
        if (after.get(middle)) {
          after.or(order[middle]);
        }
      }
    }
  }

  /** Whether each read sees what it may by 17.4.5. */
  private boolean isConsistent(BitSet[] before) {
    for (int event = 0; event < events.size(); event++) {
      Event read = events.get(event);
      if (!read.read()) {
        continue;
      }
      if (before[event].get(seen[event])) {
        return false;
      }
      for (int other = 0; other < events.size(); other++) {
        if (isWriteTo(read.variable(), other)
            && before[seen[event]].get(other)
            && before[other].get(event)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Whether the accesses of each variable can be in a row in which reads see the write before. */
  private boolean isCoherent(BitSet[] before) {
    if (mode == Mode.PLAIN) {
      return true;
    }
    for (int variable = 0; variable < program.variables().size(); variable++) {
      BitSet left = new BitSet();
      for (int event = 0; event < events.size(); event++) {
        left.set(event, events.get(event).variable() == variable);
      }
      if (!canBeInARow(left, before, NO_THREAD)) {
        return false;
      }
    }
    return true;
  }

  /** Whether those that are left can follow, where the newest write is this one. */
  private boolean canBeInARow(BitSet left, BitSet[] before, int newest) {
    if (left.isEmpty()) {
      return true;
    }
    for (int next = left.nextSetBit(0); next >= 0; next = left.nextSetBit(next + 1)) {
      boolean write = events.get(next).write();
      int event = next;
      boolean first = left.stream().noneMatch(other -> before[other].get(event));
      if (first && (write || seen[next] == newest)) {
        BitSet fewer = (BitSet) left.clone();
        fewer.clear(next);
        if (canBeInARow(fewer, before, write ? next : newest)) {
          return true;
        }
      }
    }
    return false;
  }
}
