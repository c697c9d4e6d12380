package org.memgraft.ordering.agent;

import java.util.HashMap;
import java.util.Map;

/** Which field has which number: the same in all classes. */
final class FieldNumbers {
  private final Map<String, Integer> numbers = new HashMap<>();

  synchronized int of(String owner, String name, String shape) {
    return numbers.computeIfAbsent(owner + '.' + name + ' ' + shape, unused -> numbers.size());
  }
}
