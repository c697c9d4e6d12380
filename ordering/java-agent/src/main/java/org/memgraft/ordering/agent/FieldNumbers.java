package org.memgraft.ordering.agent;

import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntConsumer;

/**
 * Which field has which number: the same wherever the field is named. Two class loaders may each
 * have a class of one name, whose fields share their numbers.
 */
final class FieldNumbers {
  private final IntConsumer shared;
  private final Map<String, Map<String, Integer>> numbers = new HashMap<>();
  private final Map<String, WeakReference<ClassLoader>> loaders = new HashMap<>();
  private final Set<String> loadedByOthers = new HashSet<>();
  private int next;

  /**
   * @param shared hears of the number of each field whose class several loaders have
   */
  FieldNumbers(IntConsumer shared) {
    this.shared = shared;
  }

  synchronized int of(String owner, String name, String shape) {
    Map<String, Integer> fields = numbers.get(owner);
    if (fields == null) {
      fields = new HashMap<>();
      numbers.put(owner, fields);
    }
    Integer known = fields.putIfAbsent(name + ' ' + shape, next);
    if (known != null) {
      return known;
    }
    if (loadedByOthers.contains(owner)) {
      shared.accept(next);
    }
    return next++;
  }

  /** A loader has a class: it is being loaded, or was. */
  synchronized void has(ClassLoader loader, String owner) {
    WeakReference<ClassLoader> first =
        loaders.putIfAbsent(owner, new WeakReference<ClassLoader>(loader));
    // What a loader that is gone had stored is still known.
    if (first != null && first.get() != loader && loadedByOthers.add(owner)) {
      for (int number : numbers.getOrDefault(owner, Map.of()).values()) {
        shared.accept(number);
      }
    }
  }
}
