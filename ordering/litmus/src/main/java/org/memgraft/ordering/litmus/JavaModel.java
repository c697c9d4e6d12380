package org.memgraft.ordering.litmus;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.memgraft.ordering.litmus.Program.Access;
import org.memgraft.ordering.litmus.Program.Monitor;
import org.memgraft.ordering.litmus.Program.Read;
import org.memgraft.ordering.litmus.Program.Step;
import org.memgraft.ordering.litmus.Program.Way;
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
 * <p>Volatile accesses, and what is done to the monitor, are in one row (17.4.4): each read sees
 * the write before, and that and all earlier ones happen before it; whoever takes the monitor comes
 * after all who gave it.
 *
 * <p>No text says what volatile and other accesses of one variable do to each other. Here a
 * volatile read may also see any write that is not in the row, as a plain one may.
 */
final class JavaModel {
  /** How an access orders, each at least as much as the one before. */
  enum Mode {
    PLAIN,
    /** Each variable by itself is sequentially consistent. */
    OPAQUE,
    /** Also, what came before a write happens before what comes after a read that sees it. */
    RELEASE_ACQUIRE,
    /** Sequentially consistent. */
    VOLATILE;

    boolean isAtLeast(Mode other) {
      return compareTo(other) >= 0;
    }

    private static Mode of(Way way) {
      return switch (way) {
        case OPAQUE -> OPAQUE;
        case ACQUIRE, RELEASE -> RELEASE_ACQUIRE;
        case VOLATILE -> VOLATILE;
        default -> throw new IllegalArgumentException(way + " is no mode");
      };
    }
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
  private record Event(int thread, int variable, Kind kind, int value, Mode mode) {
    boolean write() {
      return kind == Kind.WRITE;
    }

    boolean read() {
      return kind == Kind.READ;
    }
  }

  private static final int NO_THREAD = -1;
  private static final int NO_VARIABLE = -1;
  private static final int NOTHING = -1;

  private final Program program;

  /** Of an access whose way and variable say nothing else. */
  private final Mode mode;

  private final List<Event> events = new ArrayList<>();
  private final BitSet[] programOrder;

  /** Volatile accesses and what is done to the monitor, in the row that they are in. */
  private final List<Integer> row = new ArrayList<>();

  private final BitSet rowed = new BitSet();

  /** Whether there is more than plain accesses and volatile variables. */
  private boolean hasModes;

  /** What happens before what by program order and by the row. */
  private BitSet[] ofRow;

  /** What other rows came to: many order the same. */
  private final Set<List<Object>> known = new HashSet<>();

  /** For each read the number of the write that it sees. */
  private final int[] seen;

  private final Set<List<Integer>> outcomes = new HashSet<>();

  private JavaModel(Program program, Mode mode) {
    this.program = program;
    this.mode = mode;
    collect();
    programOrder = programOrder();
    seen = new int[events.size()];
    Arrays.fill(seen, NOTHING);
  }

  /**
   * The outcomes: registers, then final values.
   *
   * @param mode of the accesses of which the program does not say it
   */
  static Set<List<Integer>> outcomes(Program program, Mode mode) {
    JavaModel model = new JavaModel(program, mode);
    if (mode == Mode.VOLATILE && model.rowed.cardinality() == model.events.size()) {
      return Enumerator.sc(program);
    }
    model.goThroughRows();
    return model.outcomes;
  }

  private void collect() {
    for (int variable = 0; variable < program.variables().size(); variable++) {
      add(NO_THREAD, Kind.WRITE, new Access(variable, Way.DIRECT), 0);
    }
    for (int thread = 0; thread < program.threads().size(); thread++) {
      for (Step step : program.threads().get(thread)) {
        if (step instanceof Write write) {
          add(thread, Kind.WRITE, new Access(write.variable(), write.way()), write.value());
        } else if (step instanceof Read read) {
          add(thread, Kind.READ, new Access(read.variable(), read.way()), read.register());
        } else if (step instanceof Monitor monitor) {
          Kind kind = monitor == Monitor.TAKE ? Kind.TAKE : Kind.GIVE;
          events.add(new Event(thread, NO_VARIABLE, kind, 0, Mode.VOLATILE));
        }
      }
    }
    for (int i = 0; i < program.finals().size(); i++) {
      int label = program.registers() + i;
      add(NO_THREAD, Kind.READ, new Access(program.finals().get(i), Way.DIRECT), label);
    }
    for (int event = 0; event < events.size(); event++) {
      rowed.set(event, events.get(event).mode() == Mode.VOLATILE);
    }
  }

  private void add(int thread, Kind kind, Access access, int value) {
    Mode own = access.way().isMode() ? Mode.of(access.way()) : mode;
    if (program.isVolatile(access)) {
      own = Mode.VOLATILE;
    }
    hasModes |= access.way().isMode() || own == Mode.OPAQUE || own == Mode.RELEASE_ACQUIRE;
    events.add(new Event(thread, access.variable(), kind, value, own));
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
      ofRow = copy(programOrder);
      addRow(ofRow);
      close(ofRow);
      if (known.add(List.of(List.of(ofRow), Arrays.stream(seen).boxed().toList()))) {
        choose(0);
      }
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

  /** NOTHING where the row has no write to the variable. */
  private int lastWriteInRow(int variable) {
    int last = NOTHING;
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
    if (!events.get(event).read()) {
      choose(event + 1);
      return;
    }
    int inRow = rowed.get(event) ? seen[event] : NOTHING;
    if (inRow != NOTHING) {
      choose(event + 1);
    }
    for (int write = 0; write < events.size(); write++) {
      boolean elsewhere = rowed.get(event) && rowed.get(write);
      if (isWriteTo(events.get(event).variable(), write)
          && !elsewhere
          && maySee(event, write, ofRow)) {
        seen[event] = write;
        choose(event + 1);
      }
    }
    seen[event] = inRow;
  }

  private boolean isWriteTo(int variable, int event) {
    return events.get(event).write() && events.get(event).variable() == variable;
  }

  private void addIfAllowed() {
    Integer[] values = new Integer[program.registers() + program.finals().size()];
    for (int event = 0; event < events.size(); event++) {
      Event read = events.get(event);
      if (read.read()) {
        values[read.value()] = events.get(seen[event]).value();
      }
    }
    List<Integer> outcome = List.of(values);
    if (!outcomes.contains(outcome)) {
      BitSet[] before = happensBefore();
      if (before != null && isConsistent(before) && isCoherent(before)) {
        outcomes.add(outcome);
      }
    }
  }

  /** Null where something would happen before itself. */
  private BitSet[] happensBefore() {
    if (!hasModes) {
      // Program order and the row agree with each other.
      return ofRow;
    }
    BitSet[] before = copy(ofRow);
    addWhatIsAcquired(before);
    close(before);
    for (int event = 0; event < before.length; event++) {
      if (before[event].get(event)) {
        return null;
      }
    }
    return before;
  }

  private void addWhatIsAcquired(BitSet[] order) {
    for (int event = 0; event < events.size(); event++) {
      Event read = events.get(event);
      // Also a thread's own write: that is before the read already, or not allowed.
      if (read.read()
          && read.mode().isAtLeast(Mode.RELEASE_ACQUIRE)
          && events.get(seen[event]).mode().isAtLeast(Mode.RELEASE_ACQUIRE)) {
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
      if (events.get(event).read() && !maySee(event, seen[event], before)) {
        return false;
      }
    }
    return true;
  }

  /** Whether the write is not after the read, and no other one is between them. */
  private boolean maySee(int read, int write, BitSet[] before) {
    if (before[read].get(write)) {
      return false;
    }
    for (int other = before[write].nextSetBit(0);
        other >= 0;
        other = before[write].nextSetBit(other + 1)) {
      if (isWriteTo(events.get(read).variable(), other) && before[other].get(read)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether the accesses of each variable can be in a row in which reads see the write before;
   * plain reads need not be.
   */
  private boolean isCoherent(BitSet[] before) {
    if (!hasModes) {
      return true;
    }
    for (int variable = 0; variable < program.variables().size(); variable++) {
      BitSet left = new BitSet();
      for (int event = 0; event < events.size(); event++) {
        Event access = events.get(event);
        boolean plain = access.read() && access.mode() == Mode.PLAIN;
        left.set(event, access.variable() == variable && !plain);
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
