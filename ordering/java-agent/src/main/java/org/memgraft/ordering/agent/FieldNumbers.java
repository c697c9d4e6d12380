package org.memgraft.ordering.agent;

import java.util.HashMap;
import java.util.Map;

/** Which field has which number: the same in all classes. */
final class FieldNumbers {
  private final Map<String, Integer> numbers = new HashMap<>();

  synchronized int of(String owner, String name, String shape) {
    int next = numbers.size();
    Integer known = numbers.putIfAbsent(owner + '.' + name + ' ' + shape, next);
    return known == null ? next : known;
  }
}
