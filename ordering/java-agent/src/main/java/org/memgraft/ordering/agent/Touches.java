package org.memgraft.ordering.agent;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;

/**
 * Which threads load and store what. Code that {@link Watcher} has changed tells a number before
 * each access; a thread's first access by each place in the code is kept with its stack.
 */
final class Touches implements IntConsumer {
  /** More threads show nothing new. */
  private static final int MOST_THREADS = 4;

  private static final int MOST_FRAMES = 12;

  /** Those of this agent, and of the class that code calls it through. */
  private static final String OURS = "org.memgraft.ordering.agent.";

  private static final String BRIDGE = "java.lang.MemgraftOrdering";

  /** By number. Replaced when it grows: whoever reads an old one finds the same spots there. */
  private volatile Spot[] spots = new Spot[1024];

  private int count;

  /** The number by which a place in the code tells that it loads, or stores, what has that name. */
  synchronized int number(String name, boolean store) {
    if (count == spots.length) {
      spots = Arrays.copyOf(spots, 2 * count);
    }
    spots[count] = new Spot(name, store);
    return count++;
  }

  @Override
  public void accept(int number) {
    spots[number].by(Thread.currentThread());
  }

  /** By name: which threads loaded and stored it, and where from. */
  synchronized List<Map<String, Object>> done() {
    Map<String, Map<String, Object>> all = new TreeMap<>();
    for (Spot spot : Arrays.copyOf(spots, count)) {
      Map<String, Object> one = all.computeIfAbsent(spot.name, Touches::untouched);
      @SuppressWarnings("unchecked")
      var accesses = (List<Map<String, Object>>) one.get(spot.store ? "stores" : "loads");
      accesses.addAll(spot.done());
    }
    return List.copyOf(all.values());
  }

  private static Map<String, Object> untouched(String name) {
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("name", name);
    one.put("loads", new ArrayList<>());
    one.put("stores", new ArrayList<>());
    return one;
  }

  /** One place in the code, and the threads that came by. */
  private static final class Spot {
    private final String name;
    private final boolean store;

    /** Whoever came last. It may be an older one: then the list is looked at. */
    private Visitor last;

    private final List<Visitor> visitors = new ArrayList<>(0);

    Spot(String name, boolean store) {
      this.name = name;
      this.store = store;
    }

    void by(Thread thread) {
      Visitor visitor = last;
      if (visitor == null || visitor.thread != thread) {
        visitor = visitor(thread);
        last = visitor;
      }
      visitor.times++;
    }

    private synchronized Visitor visitor(Thread thread) {
      // Threads of a program may have their own equals.
      for (Visitor known : visitors) {
        if (known.thread == thread) {
          return known;
        }
      }
      Visitor visitor = new Visitor(thread);
      if (visitors.size() < MOST_THREADS) {
        visitors.add(visitor);
      }
      return visitor;
    }

    synchronized List<Map<String, Object>> done() {
      return visitors.stream().map(Visitor::done).toList();
    }
  }

  private static final AtomicLong COMINGS = new AtomicLong();

  /** A thread at one place in the code. */
  private static final class Visitor {
    private final long order = COMINGS.getAndIncrement();
    private final Thread thread;
    private final StackTraceElement[] stack = new Throwable().getStackTrace();

    /** Counted by this thread alone. */
    private long times;

    Visitor(Thread thread) {
      this.thread = thread;
    }

    Map<String, Object> done() {
      Map<String, Object> one = new LinkedHashMap<>();
      // Virtual threads have no name unless they are given one.
      one.put("thread", thread.getName().isEmpty() ? "#" + thread.getId() : thread.getName());
      // Several may have one name.
      one.put("id", System.identityHashCode(thread));
      one.put("order", order);
      one.put("times", times);
      one.put(
          "stack",
          Arrays.stream(stack)
              .filter(frame -> !frame.getClassName().startsWith(OURS))
              .filter(frame -> !frame.getClassName().equals(BRIDGE))
              .limit(MOST_FRAMES)
              .map(StackTraceElement::toString)
              .toList());
      return one;
    }
  }
}
