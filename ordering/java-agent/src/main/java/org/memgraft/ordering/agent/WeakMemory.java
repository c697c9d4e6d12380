package org.memgraft.ordering.agent;

import java.lang.invoke.VarHandle;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A memory whose loads may get old values, as far as the Java memory model allows, for the accesses
 * that {@link Weakener} has rewritten. Each variable remembers its last values. A plain load may
 * get any of them that does not come before another one which happens before the load.
 *
 * <p>What happens before what is known by vector clocks: each store has its thread's next number,
 * and each thread knows up to which number it has seen every other thread. Monitors, and whatever
 * the JDK does, are taken to order more than the model asks: after them a thread has seen all
 * stores up to now. So no value is given that the model forbids. No value comes out of thin air:
 * each one was stored before.
 *
 * <p>The program's variables are also stored by code that is not rewritten: by the JDK, by native
 * code, by static initializers. This class does not hear of that. So a value is old only if the
 * next store found it in memory, and a thread gets it only if that was after the thread had
 * synchronized for the last time: whoever stored something unheard has synchronized since, or is
 * about to. Time is counted in ticks. Where a store finds anything else, the variable is forgotten.
 *
 * <p>A variable is an object and a number: of an array the index, else that of the field. A
 * variable is forgotten when another one comes to its place. When it is stored again, what was
 * there before becomes an old value only if no forgotten store can be newer than it. It was loaded
 * before this class is told of the store; and each store is done only after this class was told of
 * it. So each place counts the stores that are under way, and knows when the last one was done.
 */
final class WeakMemory {
  /** The object of static fields. */
  private static final Object STATICS = new Object();

  /** Threads that live at once; later ones get what was stored last. */
  static final int MOST_THREADS = 64;

  private static final int VARIABLES = 1 << 14;
  private static final int STRIPES = 1 << 8;
  private static final int NOBODY = -1;
  private static final int NOWHERE = -1;

  /** One in so many loads that could get an old value takes the newest. */
  private static final int NEWEST_ONE_IN = 2;

  /** One in so many threads that got an old value of a variable keeps it as long as it may. */
  private static final int KEEPS_ONE_IN = 2;

  private final long seed;
  private final WeakVariable[] variables = new WeakVariable[VARIABLES];
  private final Object[] stripes = new Object[STRIPES];
  private final AtomicLongArray stored = new AtomicLongArray(MOST_THREADS);
  private final Thread[] owners = new Thread[MOST_THREADS];
  private final LastStore[] lastStores = new LastStore[MOST_THREADS];

  /** All numbers that were given out are below. */
  private volatile int numbers;

  /** By place: stores that may not have been done yet. Guarded by its stripe. */
  private final int[] underWay = new int[VARIABLES];

  /** By place: at which tick the last one was known to be done. Guarded by its stripe. */
  private final long[] done = new long[VARIABLES];

  /** How many stores were begun. */
  private final AtomicLong ticks = new AtomicLong();

  /** Numbers that static fields of several classes have. A new set each time. */
  private volatile BitSet shared = new BitSet();

  private final AtomicInteger epoch = new AtomicInteger();
  private final AtomicLong loads = new AtomicLong();
  private final AtomicLong stale = new AtomicLong();
  private final ThreadLocal<View> views = ThreadLocal.withInitial(this::newView);

  WeakMemory(long seed) {
    this.seed = seed;
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new Object();
    }
    for (int i = 0; i < MOST_THREADS; i++) {
      lastStores[i] = new LastStore();
    }
  }

  /** Where the thread of a number stored last; whoever gets the number knows that it was done. */
  private static final class LastStore {
    private int place = NOWHERE;
  }

  /** What one thread has seen. It is the thread's alone. */
  final class View {
    /** Below MOST_THREADS, or NOBODY. */
    private final int number;

    /** Up to which of its stores each thread was seen. */
    private final long[] seen = new long[MOST_THREADS];

    private int seenEpoch;

    /** The method that is about to be entered; 0: none. */
    private int calling;

    /** At which tick it began a store: then it loaded what was there before. */
    private long began;

    /** Each store that this thread must have seen, heard or unheard, was done by this tick. */
    private long synchronizedAt;

    private long random;
    private final Object[] reached = new Object[64];

    View(int number) {
      this.number = number;
      random = seed * 0x9E3779B97F4A7C15L + number;
    }

    /** From now on this thread has seen all stores up to now. */
    void acquire() {
      seenEpoch = epoch.get();
      int end = numbers;
      for (int i = 0; i < end; i++) {
        seen[i] = stored.get(i);
      }
      // What this thread stored unheard is found by each store that begins at a later tick.
      VarHandle.fullFence();
      synchronizedAt = ticks.get();
    }

    private void join(WeakVariable.Released others) {
      for (int i = 0; i < MOST_THREADS; i++) {
        seen[i] = Math.max(seen[i], others.seen[i]);
      }
      synchronizedAt = Math.max(synchronizedAt, others.synchronizedAt);
    }

    /** Whether it must not get what was there before. */
    private boolean hasSeen(WeakVariable.Value value) {
      return value.writer == NOBODY
          || seen[value.writer] >= value.number
          || synchronizedAt >= value.began;
    }

    private int random(int below) {
      // Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
      random += 0x9E3779B97F4A7C15L;
      long mixed = (random ^ (random >>> 30)) * 0xBF58476D1CE4E5B9L;
      mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
      return (int) Math.floorMod(mixed ^ (mixed >>> 31), (long) below);
    }
  }

  private View newView() {
    View view = new View(freeNumber());
    view.acquire();
    return view;
  }

  /** A store begins. What this thread stored last is in memory: it has gone on. */
  private void begin(View view) {
    view.began = ticks.incrementAndGet();
    LastStore last = lastStores[view.number];
    if (last.place != NOWHERE) {
      synchronized (stripeOf(last.place)) {
        underWay[last.place]--;
        done[last.place] = Math.max(done[last.place], view.began);
      }
      last.place = NOWHERE;
    }
  }

  /** It may be done when the thread begins the next one. The caller holds the stripe. */
  private void goesUnderWay(View view, int place) {
    underWay[place]++;
    if (view.number != NOBODY) {
      lastStores[view.number].place = place;
    }
  }

  /** A thread that has ended leaves its number; whoever gets it has seen all that it stored. */
  private int freeNumber() {
    synchronized (owners) {
      for (int i = 0; i < MOST_THREADS; i++) {
        if (owners[i] == null || !owners[i].isAlive()) {
          owners[i] = Thread.currentThread();
          numbers = Math.max(numbers, i + 1);
          return i;
        }
      }
    }
    return NOBODY;
  }

  private static int placeOf(Object at, int where) {
    int hash = System.identityHashCode(at) * 31 + where;
    return (hash ^ (hash >>> 14)) & (VARIABLES - 1);
  }

  /** The variable at its place, or null. The caller holds the stripe. */
  private WeakVariable known(int place, Object at, int where) {
    WeakVariable there = variables[place];
    return there != null && there.at == at && there.where == where ? there : null;
  }

  private Object stripeOf(int place) {
    return stripes[place & (STRIPES - 1)];
  }

  /** This thread's view, up to date with what all threads must have seen. */
  private View view() {
    View view = views.get();
    if (view.seenEpoch != epoch.get()) {
      view.acquire();
    }
    return view;
  }

  /** Static fields of several classes have this number: loads get what is in memory. */
  void shareNumber(int number) {
    synchronized (owners) {
      BitSet more = (BitSet) shared.clone();
      more.set(number);
      shared = more;
    }
  }

  // Four of the methods below begin alike. A method for that beginning would be given the rest as a
  // lambda, and each access of the program would make an object of it.

  /** Which of its values a load gets; null: what is in memory. */
  private WeakVariable.Value load(Object given, int where) {
    View view = view();
    if (view.number == NOBODY || given == null && shared.get(where)) {
      return null;
    }
    Object at = given == null ? STATICS : given;
    int place = placeOf(at, where);
    synchronized (stripeOf(place)) {
      WeakVariable variable = known(place, at, where);
      if (variable == null) {
        return null;
      }
      int newest = variable.count - 1;
      int oldest = Math.max(0, variable.got[view.number] - variable.dropped);
      for (int i = newest; i > oldest; i--) {
        if (view.hasSeen(variable.values[i])) {
          oldest = i;
        }
      }
      if (oldest >= newest) {
        variable.got[view.number] = newest + variable.dropped;
        return null;
      }
      loads.incrementAndGet();
      int total = variable.count + variable.dropped;
      if (variable.looked[view.number] != total) {
        variable.looked[view.number] = total;
        variable.keeps[view.number] = view.random(KEEPS_ONE_IN) == 0;
      }
      if (!variable.keeps[view.number] && view.random(NEWEST_ONE_IN) == 0) {
        oldest = newest;
      }
      variable.got[view.number] = oldest + variable.dropped;
      if (oldest == newest) {
        return null;
      }
      stale.incrementAndGet();
      return variable.values[oldest];
    }
  }

  /** Before a store loads what was there before. */
  void storing() {
    View view = view();
    if (view.number != NOBODY) {
      begin(view);
    }
  }

  private void store(
      Object given, int where, long oldBits, Object old, long bits, Object reference) {
    View view = view();
    if (given == null && shared.get(where)) {
      return;
    }
    Object at = given == null ? STATICS : given;
    int place = placeOf(at, where);
    synchronized (stripeOf(place)) {
      WeakVariable variable = known(place, at, where);
      if (view.number == NOBODY) {
        // Nobody could tell who has seen this one, nor when it is done.
        variables[place] = null;
        goesUnderWay(view, place);
        return;
      }
      if (variable == null || variable.count == 0 || !variable.endsWith(oldBits, old)) {
        variable = new WeakVariable(at, where);
        if (underWay[place] == 0 && done[place] <= view.began) {
          variable.add(new WeakVariable.Value(NOBODY, 0, 0, oldBits, old));
        }
        variables[place] = variable;
      }
      long number = stored.incrementAndGet(view.number);
      view.seen[view.number] = number;
      variable.add(new WeakVariable.Value(view.number, number, view.began, bits, reference));
      variable.got[view.number] = variable.count - 1 + variable.dropped;
      goesUnderWay(view, place);
    }
  }

  int loadInt(Object at, int where, int real) {
    WeakVariable.Value value = load(at, where);
    return value == null ? real : (int) value.bits;
  }

  long loadLong(Object at, int where, long real) {
    WeakVariable.Value value = load(at, where);
    return value == null ? real : value.bits;
  }

  float loadFloat(Object at, int where, float real) {
    WeakVariable.Value value = load(at, where);
    return value == null ? real : Float.intBitsToFloat((int) value.bits);
  }

  double loadDouble(Object at, int where, double real) {
    WeakVariable.Value value = load(at, where);
    return value == null ? real : Double.longBitsToDouble(value.bits);
  }

  Object loadReference(Object at, int where, Object real) {
    WeakVariable.Value value = load(at, where);
    return value == null ? real : value.reference;
  }

  void storeInt(Object at, int where, int old, int now) {
    store(at, where, old, null, now, null);
  }

  void storeLong(Object at, int where, long old, long now) {
    store(at, where, old, null, now, null);
  }

  void storeFloat(Object at, int where, float old, float now) {
    store(at, where, Float.floatToRawIntBits(old), null, Float.floatToRawIntBits(now), null);
  }

  void storeDouble(Object at, int where, double old, double now) {
    long bits = Double.doubleToRawLongBits(now);
    store(at, where, Double.doubleToRawLongBits(old), null, bits, null);
  }

  void storeReference(Object at, int where, Object old, Object now) {
    store(at, where, 0, old, 0, now);
  }

  /**
   * Before a variable that is in order is stored: whoever loads it has seen what this thread has.
   */
  void releaseOf(Object given, int where) {
    View view = view();
    if (view.number != NOBODY) {
      begin(view);
    }
    Object at = given == null ? STATICS : given;
    int place = placeOf(at, where);
    synchronized (stripeOf(place)) {
      WeakVariable variable = known(place, at, where);
      goesUnderWay(view, place);
      if (view.number == NOBODY) {
        variables[place] = null;
        return;
      }
      if (variable == null || variable.released == null) {
        // What was stored before of a variable that is in order elsewhere alone, is not old.
        variable = new WeakVariable(at, where);
        // Of earlier ones nothing is known: they may have released all that there was.
        variable.released = new WeakVariable.Released();
        for (int i = 0; i < MOST_THREADS; i++) {
          variable.released.seen[i] = stored.get(i);
        }
        variable.released.synchronizedAt = ticks.get();
        variables[place] = variable;
      }
      WeakVariable.Released released = variable.released;
      for (int i = 0; i < MOST_THREADS; i++) {
        released.seen[i] = Math.max(released.seen[i], view.seen[i]);
      }
      released.synchronizedAt = Math.max(released.synchronizedAt, view.synchronizedAt);
    }
  }

  /** After a variable that is in order was loaded. */
  void acquireOf(Object given, int where) {
    View view = view();
    Object at = given == null ? STATICS : given;
    int place = placeOf(at, where);
    synchronized (stripeOf(place)) {
      WeakVariable variable = known(place, at, where);
      if (variable != null && variable.released != null) {
        view.join(variable.released);
        return;
      }
    }
    view.acquire();
  }

  /** After whatever may have synchronized with any other thread. */
  void acquire() {
    View view = views.get();
    view.calling = 0;
    view.acquire();
  }

  /** After a final field was loaded: this thread has seen what its constructor stored. */
  void reach(Object object) {
    View view = view();
    int place = System.identityHashCode(object) & (view.reached.length - 1);
    if (view.reached[place] != object) {
      view.acquire();
      view.reached[place] = object;
    }
  }

  /** Before a rewritten method calls another one, which is known by its name and shape. */
  void calling(int method) {
    views.get().calling = method;
  }

  /**
   * Behind such a call. Where the method that was called is not a rewritten one, it may have
   * synchronized.
   */
  void called() {
    View view = views.get();
    if (view.calling != 0) {
      view.calling = 0;
      view.acquire();
    }
  }

  /**
   * At the start of a rewritten method: whoever else calls it may have synchronized before. Between
   * two of the program's methods there may be one that the JDK has made, of a lambda or of a proxy;
   * then this is not the method that was called.
   */
  void enter(int method) {
    View view = views.get();
    boolean called = view.calling == method;
    view.calling = 0;
    if (!called) {
      view.acquire();
    }
  }

  /** From now on every thread has seen all stores up to now: a class is initialized. */
  void barrier() {
    epoch.incrementAndGet();
  }

  /** How many loads could have got an old value. */
  long loads() {
    return loads.get();
  }

  /** How many of these did. */
  long stale() {
    return stale.get();
  }
}
