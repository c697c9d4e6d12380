package org.memgraft.ordering.litmus;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A litmus test as data: what each thread does, and which variables are looked at in the end.
 *
 * <p>Written as {@code "x=1; r0=y | y=1; r1=x -> x"}: threads are separated by bars, steps by
 * semicolons. A write names a variable and a value from 0 to 7, a read a register and a variable;
 * {@code by WAY} says how, see {@link Way}; some ways are modes of a VarHandle. A variable whose
 * name begins with v is volatile, the others are what the location makes them. {@code take} and
 * {@code give} enter and leave a monitor that all threads have in common. Another word alone is
 * something {@link Between} two accesses. After the arrow stand the variables whose final values
 * belong to the outcome. Every variable is 0 at first.
 *
 * @param threads the steps of each thread, in program order
 * @param variables by number
 * @param registers how many there are; each is read into once
 * @param finals numbers of the variables looked at when all threads are done
 */
record Program(
    List<List<Step>> threads, List<String> variables, int registers, List<Integer> finals) {

  /** One step of a thread. */
  sealed interface Step permits Write, Read, Monitor, Interlude {}

  record Write(int variable, int value, Way way) implements Step {}

  record Read(int variable, int register, Way way) implements Step {}

  /** The common monitor is entered, or left. */
  enum Monitor implements Step {
    TAKE,
    GIVE
  }

  record Interlude(Between between) implements Step {}

  /** What a read and a write have in common. */
  record Access(int variable, Way way) {}

  private static final Pattern READ = Pattern.compile("r(\\d)=([a-z]\\w*)(?: by ([a-z-]+))?");
  private static final Pattern WRITE = Pattern.compile("([a-z]\\w*)=([0-7])(?: by ([a-z-]+))?");

  /**
   * @throws IllegalArgumentException naming the step that is not one
   */
  static Program parse(String text) {
    List<String> variables = new ArrayList<>();
    List<List<Step>> threads = new ArrayList<>();
    List<Integer> finals = new ArrayList<>();
    String[] halves = text.split("->", -1);
    int registers = 0;
    for (String thread : halves[0].split("\\|", -1)) {
      List<Step> steps = new ArrayList<>();
      for (String step : thread.split(";", -1)) {
        Matcher read = READ.matcher(step.strip());
        Matcher write = WRITE.matcher(step.strip());
        if (read.matches()) {
          int register = Integer.parseInt(read.group(1));
          steps.add(new Read(number(variables, read.group(2)), register, Way.of(read.group(3))));
          registers++;
        } else if (write.matches()) {
          int value = Integer.parseInt(write.group(2));
          steps.add(new Write(number(variables, write.group(1)), value, Way.of(write.group(3))));
        } else {
          steps.add(word(step.strip()));
        }
      }
      threads.add(List.copyOf(steps));
    }
    if (halves.length > 1) {
      for (String variable : halves[1].strip().split(" +")) {
        finals.add(number(variables, variable));
      }
    }
    Program program =
        new Program(List.copyOf(threads), List.copyOf(variables), registers, List.copyOf(finals));
    program.requireEachRegisterOnce(text);
    program.requireModesOfTheirOwn(text);
    program.requireEachTakenIsGiven(text);
    return program;
  }

  /** The variable of a read or a write, and how it is made; of another step none. */
  static Optional<Access> access(Step step) {
    if (step instanceof Write write) {
      return Optional.of(new Access(write.variable(), write.way()));
    }
    return step instanceof Read read
        ? Optional.of(new Access(read.variable(), read.way()))
        : Optional.empty();
  }

  private static Step word(String word) {
    return switch (word) {
      case "take" -> Monitor.TAKE;
      case "give" -> Monitor.GIVE;
      default -> new Interlude(Between.of(word));
    };
  }

  /** "r0", "r1", ..., then "x" for a final value. */
  List<String> labels() {
    List<String> labels = new ArrayList<>();
    for (int i = 0; i < registers; i++) {
      labels.add("r" + i);
    }
    for (int variable : finals) {
      labels.add(variables.get(variable));
    }
    return labels;
  }

  boolean isVolatile(int variable) {
    return variables.get(variable).startsWith("v");
  }

  /** Whether it is as of a volatile variable: a mode says so, or else the variable. */
  boolean isVolatile(Access access) {
    return access.way().isMode() ? access.way() == Way.VOLATILE : isVolatile(access.variable());
  }

  /** The registers that a thread reads into, in its order. */
  List<Integer> registersOf(int thread) {
    return threads.get(thread).stream()
        .filter(Read.class::isInstance)
        .map(step -> ((Read) step).register())
        .toList();
  }

  int largestValue() {
    return threads.stream()
        .flatMap(List::stream)
        .filter(Write.class::isInstance)
        .mapToInt(step -> ((Write) step).value())
        .max()
        .orElse(0);
  }

  private void requireEachRegisterOnce(String text) {
    boolean[] seen = new boolean[registers];
    for (int thread = 0; thread < threads.size(); thread++) {
      for (int register : registersOf(thread)) {
        if (register >= registers || seen[register]) {
          throw new IllegalArgumentException(
              "'%s': r%d is read twice, or a number before it is left out"
                  .formatted(text, register));
        }
        seen[register] = true;
      }
    }
  }

  private void requireModesOfTheirOwn(String text) {
    for (Step step : threads.stream().flatMap(List::stream).toList()) {
      if (step instanceof Write write && write.way() == Way.ACQUIRE
          || step instanceof Read read && read.way() == Way.RELEASE) {
        throw new IllegalArgumentException(
            "'%s': reads acquire, and writes release".formatted(text));
      }
    }
  }

  private void requireEachTakenIsGiven(String text) {
    for (List<Step> steps : threads) {
      boolean has = false;
      for (Step step : steps) {
        if (step == (has ? Monitor.TAKE : Monitor.GIVE)) {
          throw new IllegalArgumentException("'%s': take and give take no turns".formatted(text));
        }
        has = step instanceof Monitor ? !has : has;
      }
      if (has) {
        throw new IllegalArgumentException("'%s': a take without a give".formatted(text));
      }
    }
  }

  private static int number(List<String> variables, String variable) {
    if (!variables.contains(variable)) {
      variables.add(variable);
    }
    return variables.indexOf(variable);
  }

  /** How an access is made; its meaning is the same each time. */
  enum Way {
    /** As the location does it. */
    DIRECT,
    /** In a method that the compilers inline. */
    CALLEE,
    /** In a method too large for them to inline. */
    AWAY,
    /** In both arms of a branch. */
    BRANCH,
    /** Three times, in a loop. */
    LOOP,
    /** In the handler of an exception just thrown. */
    HANDLER,
    /** Arrays only: {@code System.arraycopy}. */
    ARRAYCOPY,
    /** Writes of arrays only: {@code Arrays.fill}. */
    FILL,
    /** Reads of arrays only: an element of a {@code clone()}. */
    CLONE,
    /** Reads of arrays only: {@code Arrays.copyOf}. */
    COPYOF,
    /** Reads of int arrays only, of 0 and 1: {@code Arrays.equals} with zeroes. */
    EQUALS,
    /** Through a VarHandle, in the mode of this name, as the next three are. */
    OPAQUE,
    /** Reads only. */
    ACQUIRE,
    /** Writes only. */
    RELEASE,
    VOLATILE;

    /** Whether it is a mode of a VarHandle. */
    boolean isMode() {
      return compareTo(OPAQUE) >= 0;
    }

    static Way of(String name) {
      return name == null ? DIRECT : valueOf(name.toUpperCase(Locale.ROOT));
    }
  }

  /** What may stand between two accesses without meaning anything to other threads. */
  enum Between {
    /** An object is made, with a field that is stored to, and forgotten. */
    FRESH,
    /** The same, but a static keeps the object when all is done. */
    KEPT,
    /** The same, with a final field. */
    FROZEN,
    /** An array is made and stored to. */
    ARRAY,
    BRANCH,
    LOOP,
    /** A call that is inlined. */
    CALL,
    /** A call that is not. */
    AWAY,
    /** An exception is thrown and caught. */
    THROW,
    /** A volatile that nobody writes is read: no fence under TSO. */
    VOLATILE,
    /** A lock that only this thread ever takes: a fence all the same, on x86. */
    LOCK,
    /** A lock on an object that was just made: C2 elides it, fence included. */
    ELIDED;

    static Between of(String name) {
      try {
        return valueOf(name.toUpperCase(Locale.ROOT));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("'" + name + "' is no step", e);
      }
    }
  }
}
