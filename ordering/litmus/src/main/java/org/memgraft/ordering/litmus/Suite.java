package org.memgraft.ordering.litmus;

import static org.objectweb.asm.Opcodes.ACC_VOLATILE;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.memgraft.ordering.litmus.JavaModel.Mode;

/** All tests: a table of programs and where each is raced. To add one, add a row. */
final class Suite {
  private static final String SB = "x=1; r0=y | y=1; r1=x";
  private static final String MP = "x=1; y=1 | r0=y; r1=x";
  private static final String ESCAPE = "p=1; x=1; r0=y | y=1; r1=p; r2=x";

  /** The control: volatile in Java too, and so always SC. */
  private static final String VOLATILE = "volatile-int";

  private static final String NATIVE = "reflected-array";

  private final List<Litmus> tests = new ArrayList<>();
  private final Map<String, Place> places = places();

  private Suite() {
    basic();
    coherence();
    widths();
    manyThreads();
    fences();
    arrays();
    synchronizing();
    modes();
    handWritten();
  }

  static List<Litmus> all() {
    return List.copyOf(new Suite().tests);
  }

  /** Races of programs made at random: so many, from the seed. */
  static List<Litmus> random(int count, long seed) {
    RandomPrograms programs = new RandomPrograms(seed);
    Map<String, Place> places = places();
    List<Litmus> tests = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String location = FOR_RANDOM[i % FOR_RANDOM.length];
      String text = programs.next(places.get(location) instanceof Place.Arrays);
      tests.add(generated("random-" + (i + 1), location, text, text, places.get(location)));
    }
    return List.copyOf(tests);
  }

  private static Map<String, Place> places() {
    Map<String, Place> places = new LinkedHashMap<>();
    for (Type type : Type.values()) {
      places.put("field-" + type, new Place.Fields(type, 0, false));
      places.put("static-" + type, new Place.Statics(type));
      places.put("array-" + type, new Place.Arrays(type, false));
      places.put("near-field-" + type, new Place.Fields(type, 0, true));
      places.put("near-array-" + type, new Place.Arrays(type, true));
    }
    places.put("hidden-int", new Place.HiddenFields(Type.INT));
    places.put("handle-plain", Accessors.handles("get", "set", Mode.PLAIN));
    places.put("handle-opaque", Accessors.handles("getOpaque", "setOpaque", Mode.OPAQUE));
    places.put(
        "handle-release", Accessors.handles("getAcquire", "setRelease", Mode.RELEASE_ACQUIRE));
    places.put("handle-array", new Place.ArrayHandles(Type.INT));
    places.put("reflection", Accessors.reflection());
    places.put(NATIVE, new Place.ReflectedArrays());
    places.put("lazyset", Accessors.lazySet());
    places.put(VOLATILE, new Place.Fields(Type.INT, ACC_VOLATILE, false));
    return places;
  }

  private static final String[] CORE = {
    "field-int", "field-long", "field-reference",
    "static-int", "static-long", "static-reference",
    "array-int", "array-long", "array-reference"
  };

  private static final String[] EVERYWHERE = {
    "field-int",
    "field-long",
    "field-reference",
    "field-byte",
    "field-double",
    "static-int",
    "static-long",
    "static-reference",
    "array-int",
    "array-long",
    "array-reference",
    "array-byte",
    "array-double",
    "hidden-int",
    "handle-plain",
    "handle-opaque",
    "handle-release",
    "handle-array",
    "reflection",
    NATIVE,
    "lazyset",
    VOLATILE
  };

  private static final String[] FOR_RANDOM = {
    "array-int",
    "field-int",
    "static-int",
    "array-byte",
    "field-reference",
    "static-long",
    "array-long",
    "near-field-byte"
  };

  // Names as in Sewell et al. 2010 and in the "herd" tools: Alglave, Maranget and Tautschnig 2014,
  // "Herding Cats", figure 3.
  private void basic() {
    add("sb", "store buffering: Dekker's core", SB, EVERYWHERE);
    add("mp", "message passing", MP, EVERYWHERE);
    add("lb", "load buffering", "r0=x; y=1 | r1=y; x=1", CORE);
    add("r", "two writes against a write and a read", "x=1; y=1 | y=2; r0=x -> y", CORE);
    add("s", "two writes against a read and a write", "x=2; y=1 | r0=y; x=1 -> x", CORE);
    add("2+2w", "writes only", "x=1; y=2 | y=1; x=2 -> x y", CORE);
    String forward = "a store read back before another's two";
    add("forward", forward, "x=1; r0=y; r1=x | x=2; y=1 -> x", CORE);
    String n6 = "a store read back out of the store buffer: n6 of Sewell et al.";
    add("n6", n6, "x=1; r0=x; r1=y | y=2; x=2 -> x", CORE);
  }

  private void coherence() {
    String[] some = {"field-int", "array-int"};
    add("corr", "two reads of one variable", "x=1 | r0=x; r1=x", CORE);
    add("cowr", "a read after a write of one variable", "x=1; r0=x | x=2 -> x", some);
    add("coww", "two writes of one variable", "x=1; x=2 | r0=x; r1=x -> x", some);
    add("corw", "a write after a read of one variable", "r0=x; x=1 | x=2 -> x", some);
  }

  private void widths() {
    add(
        "tearing",
        "neighbours written at once",
        "x=1; r0=x | y=1; r1=y -> x y",
        IntStream.range(0, Type.values().length)
            .mapToObj(i -> Type.values()[i])
            .flatMap(type -> List.of("near-field-" + type, "near-array-" + type).stream())
            .toArray(String[]::new));
    String[] wide = {
      "field-long", "field-double", "static-long", "static-double", "array-long", "array-double"
    };
    add("atomic", "64 bits are written as one", "x=1; x=2 | r0=x", wide);
  }

  private void manyThreads() {
    String[] some = {"field-int", "static-int", "array-int", VOLATILE};
    add("sb3", "store buffering of three", "x=1; r0=y | y=1; r1=z | z=1; r2=x", some);
    add("wrc", "write to read causality", "x=1 | r0=x; y=1 | r1=y; r2=x", some);
    add("rwc", "read to write causality", "x=1 | r0=x; r1=y | y=1; r2=x", some);
    String iriw = "independent reads of independent writes";
    add("iriw", iriw, "x=1 | y=1 | r0=x; r1=y | r2=y; r3=x", some);
  }

  /** Store buffering again, with what an optimiser of fences might think makes one superfluous. */
  private void fences() {
    String[] some = {"field-int", "static-int", "array-int"};
    String run = "x is the first, or the last, of a run of stores";
    add("sb-run-first", run, "x=1; a=1; b=1; r0=y | y=1; c=1; d=1; r1=x", some);
    add("sb-run-last", run, "a=1; b=1; x=1; r0=y | c=1; d=1; y=1; r1=x", some);
    String overwritten = "the first store is overwritten at once";
    add("sb-overwritten", overwritten, "x=1; x=2; r0=y | y=1; y=2; r1=x", some);
    String reload = "the store is read back first";
    add("sb-reload", reload, "x=1; r0=x; r1=y | y=1; r2=y; r3=x", some);
    String before = "the variable is read before it is stored to";
    add("sb-read-before", before, "r0=x; x=1; r1=y | r2=y; y=1; r3=x", some);
    String unrelated = "a third variable is read between";
    add("sb-read-between", unrelated, "x=1; r0=a; r1=y | y=1; r2=a; r3=x", some);
    String again = "twice in a row: one fence is not enough for both";
    add("sb-again", again, "x=1; r0=y; a=1; r1=b | y=1; r2=x; b=1; r3=a", some);
    String back = "the first store is undone";
    add("sb-undone", back, "x=1; x=0; a=1; r0=y | y=1; r1=a; r2=x", some);
    String oneSided = "one side has nothing between, the other a run of reads";
    add("sb-one-sided", oneSided, "x=1; r0=y | y=1; r1=y; r2=y; r3=x", some);
    for (Program.Between between : Program.Between.values()) {
      String word = between.name().toLowerCase(Locale.ROOT);
      String text = "x=1; %s; r0=y | y=1; %s; r1=x".formatted(word, word);
      add("sb-through-" + word, "between store and load: " + word, text, some);
      if (between == Program.Between.FRESH || between == Program.Between.AWAY) {
        // The same before the store: what is known there must not be believed after it.
        String first = "%s; x=1; r0=y | %s; y=1; r1=x".formatted(word, word);
        add("sb-after-" + word, "before store and load: " + word, first, some);
      }
    }
    for (String way : List.of("callee", "away", "branch", "loop", "handler")) {
      String stores = "x=1 by %s; r0=y | y=1 by %s; r1=x".formatted(way, way);
      add("sb-store-by-" + way, "the store: by " + way, stores, some);
      String loads = "x=1; r0=y by %s | y=1; r1=x by %s".formatted(way, way);
      add("sb-load-by-" + way, "the load: by " + way, loads, some);
    }
    String both = "store and load each in a method too large to inline";
    add("sb-both-away", both, "x=1 by away; r0=y by away | y=1 by away; r1=x by away", some);
    String runAway = "a run of stores that ends in a callee";
    add("sb-run-away", runAway, "a=1; x=1 by away; r0=y | b=1; y=1 by away; r1=x", some);
    String runLoop = "a run of stores with a loop in it";
    add("sb-run-loop", runLoop, "x=1; a=1 by loop; r0=y | y=1; b=1 by loop; r1=x", some);
    String mixed = "as if one thread's code had its fence and the other's not";
    add("sb-mixed", mixed, "x=1; lock; r0=y | y=1; r1=x", some);
  }

  /** Arrays as the library stores to them and loads from them: compilers treat that specially. */
  private void arrays() {
    String[] some = {"array-int", "array-byte", "array-reference"};
    for (String way : List.of("arraycopy", "fill")) {
      String stores = "x=1 by %s; r0=y | y=1 by %s; r1=x".formatted(way, way);
      add("sb-store-by-" + way, "the store: by " + way, stores, some);
      String passing = "x=1 by %s; y=1 by %s | r0=y; r1=x".formatted(way, way);
      add("mp-store-by-" + way, "message passing, stores by " + way, passing, some);
      String covered = "x=3; x=1 by %s; r0=x | x=2 -> x".formatted(way);
      add(
          "cowr-store-by-" + way,
          "a store covered by one by " + way + ", then read",
          covered,
          some);
    }
    for (String way : List.of("arraycopy", "clone", "copyof")) {
      String loads = "x=1; r0=y by %s | y=1; r1=x by %s".formatted(way, way);
      add("sb-load-by-" + way, "the load: by " + way, loads, some);
    }
    String equals = "the load: by Arrays.equals, which compilers make vector code of";
    add("sb-load-by-equals", equals, "x=1; r0=y by equals | y=1; r1=x by equals", "array-int");
    String copies = "arraycopy both ways";
    add(
        "sb-by-arraycopy",
        copies,
        "x=1 by arraycopy; r0=y by arraycopy | y=1 by arraycopy; r1=x by arraycopy",
        some);
  }

  /** Volatile variables and plain ones, and a lock, as programs have them. */
  private void synchronizing() {
    String[] some = {"field-int", "static-long", "array-reference", "array-int"};
    add("mp-volatile-flag", "message passing, right", "x=1; v=1 | r0=v; r1=x", some);
    String data = "message passing whose data is volatile, and not the flag";
    add("mp-plain-flag", data, "v=1; y=1 | r0=y; r1=v", some);
    add("sb-one-volatile", "store buffering, one side mended", "v=1; r0=y | y=1; r1=v", some);
    String again = "message passing whose data is stored again";
    add("mp-volatile-again", again, "x=1; v=1; x=2 | r0=v; r1=x; r2=x", some);
    String other = "message passing; another thread stores the data, too";
    add("mp-volatile-race", other, "x=1; v=1 | x=2 | r0=v; r1=x", some);
    String passed = "message passing by way of a third thread";
    add("mp-volatile-passed", passed, "x=1; v=1 | r0=v; vv=1 | r1=vv; r2=x", some);
    String lock = "store buffering, right: under a lock";
    add("sb-lock", lock, "take; x=1; r0=y; give | take; y=1; r1=x; give", some);
    String before = "message passing by a lock; the data is not under it";
    add("mp-lock", before, "x=1; take; y=1; give | take; r0=y; give; r1=x", some);
    String oneSided = "message passing by a lock that the reader does not take";
    add("mp-lock-one-sided", oneSided, "take; x=1; y=1; give | r0=y; r1=x", some);
    String by = "x=3; x=1 by %s; v=1 | x=2 | r0=v; r1=x";
    for (String way : List.of("arraycopy", "fill")) {
      String covered = "message passing after a store covered by one by " + way;
      add("mp-volatile-store-by-" + way, covered, by.formatted(way), "array-int", "array-byte");
    }
  }

  /** Modes of VarHandle beside plain accesses of the same variables. */
  private void modes() {
    String[] some = {"field-int", "static-long", "array-reference", "array-int"};
    String right = "message passing, right: the flag is stored and loaded through a VarHandle";
    add("mp-release-flag", right, "x=1; y=1 by release | r0=y by acquire; r1=x", some);
    String plain = "message passing whose flag is loaded plainly";
    add("mp-release-plain-flag", plain, "x=1; y=1 by release | r0=y; r1=x", some);
    String over = "message passing whose flag is first stored plainly";
    add("mp-release-again", over, "x=1; y=1; y=2 by release | r0=y by acquire; r1=x", some);
    String data = "message passing whose data was plain, and is stored again in a mode";
    String again = "x=1; x=2 by opaque; y=1 by release | r0=y by acquire; r1=x";
    add("mp-release-mode-data", data, again, some);
    String both = "store buffering, right: volatile through VarHandles";
    String volatiles = "x=1 by volatile; r0=y by volatile | y=1 by volatile; r1=x by volatile";
    add("sb-volatile-modes", both, volatiles, some);
    add("corr-opaque", "coherence, right", "x=1 | r0=x by opaque; r1=x by opaque", some);
    String own = "a store in a mode, read back plainly";
    add("cowr-store-by-mode", own, "x=3; x=1 by opaque; r0=x | x=2 -> x", some);
  }

  private void handWritten() {
    String mutex = "r0, r1: came in; counter: how many";
    exclusion("dekker", "Dekker's mutual exclusion; " + mutex, Exclusion.Dekker::new);
    exclusion("peterson", "Peterson's mutual exclusion; " + mutex, Exclusion.Peterson::new);
    String published = "r0: there; r1: complete";
    graded("publication", "object", "unsafe; " + published, MP, Publication.OfObject::new);
    graded("publication", "array", "unsafe; " + published, MP, Publication.OfArray::new);
    tests.add(
        new Litmus(
            "double-checked",
            "object",
            "double-checked locking; r0, r1: complete",
            List.of("r0", "r1"),
            List.of(List.of(0), List.of(1)),
            Type.INT,
            1,
            Litmus.Showing.NONE,
            Grading.told(
                outcome -> outcome.equals(List.of(1, 1)) ? Grade.SC : Grade.NEITHER,
                // Whoever made the object sees all of it.
                outcome -> outcome.contains(1)),
            Publication.DoubleChecked::new));
    graded("corr", "alias", "a read under another name", "x=1 | r0=x; r1=x; r2=x", Coherence::new);
    escape("field", Escapes.ByField::new);
    escape("constructor", Escapes.ByConstructor::new);
    escape("superclass", Escapes.BySuperclass::new);
    escape("overriding", Escapes.ByOverriding::new);
    escape("other", Escapes.ByOther::new);
    escape("older", Escapes.ByOlder::new);
    escape("array", Escapes.ByArray::new);
    escape("arraycopy", Escapes.ByArrayCopy::new);
    escape("alias", Escapes.ByAlias::new);
    escape("callee", Escapes.ByCallee::new);
    escape("branch", Escapes.ByBranch::new);
    escape("loop", Escapes.ByLoop::new);
    escape("clone", Escapes.ByClone::new);
    escape("lambda", Escapes.ByLambda::new);
    escape("array-field", ArrayEscapes.ByField::new);
    escape("array-callee", ArrayEscapes.ByCallee::new);
    escape("array-other", ArrayEscapes.ByOther::new);
    escape("array-loop", ArrayEscapes.ByLoop::new);
    escape("array-either", ArrayEscapes.ByEither::new);
    escape("array-thrower", ArrayEscapes.ByThrower::new);
    String sometimes = "a store between that not every round comes to: by ";
    graded("sb-way", "branch", sometimes + "a branch", SB, Ways.Branch::new);
    graded(
        "sb-way", "store-or-load", sometimes + "a branch with a load", SB, Ways.StoreOrLoad::new);
    graded("sb-way", "loop", sometimes + "a loop", SB, Ways.Loop::new);
    graded("sb-way", "out-of-bounds", sometimes + "an exception", SB, Ways.OutOfBounds::new);
    graded("sb-call", "virtual", "stores in virtual methods", SB, Calls.Virtual::new);
    graded("sb-call", "finally", "loads in a finally", SB, Calls.Finally::new);
    graded("sb-call", "recursive", "stores deep in a recursion", SB, Calls.Recursive::new);
    graded("sb-call", "filling", "stores in a loop that ends its method", SB, Calls.Filling::new);
  }

  private void escape(String way, Supplier<Race> race) {
    graded("escape", way, "stores to an object that got out by: " + way, ESCAPE, race);
  }

  /**
   * Under SC as many come in as are counted. Java may lose the count of one who came in, but not of
   * all.
   */
  private void exclusion(String name, String summary, Supplier<Race> race) {
    tests.add(
        new Litmus(
            name,
            "field-int",
            summary,
            List.of("r0", "r1", "counter"),
            List.of(List.of(0), List.of(1)),
            Type.INT,
            2,
            Litmus.Showing.NONE,
            Grading.told(
                o -> o.get(2) == o.get(0) + o.get(1) ? Grade.SC : Grade.TSO,
                o -> o.get(2) <= o.get(0) + o.get(1) && o.get(2) >= Math.max(o.get(0), o.get(1))),
            race));
  }

  /** A hand-written race that is graded as if it were the program. */
  private void graded(
      String name, String location, String summary, String text, Supplier<Race> race) {
    Program program = Program.parse(text);
    tests.add(litmus(name, location, summary, program, Type.INT, Mode.PLAIN, race));
  }

  private void add(String name, String summary, String text, String... locations) {
    for (String location : locations) {
      tests.add(generated(name, location, summary, text, places.get(location)));
    }
  }

  private static Litmus generated(
      String name, String location, String summary, String text, Place place) {
    Program program = Program.parse(text);
    String type = ("Race_" + name + "_" + location).replaceAll("\\W", "_");
    return litmus(
        name,
        location,
        summary,
        program,
        place.type,
        place.mode,
        () -> Generator.race(program, place, type));
  }

  private static Litmus.Showing showing(String location) {
    // A JVM has a fence where a native method ends.
    if (location.equals(VOLATILE) || location.equals(NATIVE)) {
      return Litmus.Showing.NONE;
    }
    boolean byLibrary = location.matches("handle-.*|reflection|lazyset");
    return byLibrary ? Litmus.Showing.C2 : Litmus.Showing.ANY;
  }

  private static Litmus litmus(
      String name,
      String location,
      String summary,
      Program program,
      Type type,
      Mode mode,
      Supplier<Race> race) {
    return new Litmus(
        name,
        location,
        summary,
        program.labels(),
        IntStream.range(0, program.threads().size()).mapToObj(program::registersOf).toList(),
        type,
        program.largestValue(),
        name.equals("sb") ? showing(location) : Litmus.Showing.NONE,
        Grading.enumerated(program, mode),
        race);
  }
}
