package org.memgraft.ordering.litmus;

/**
 * Three reads of one variable (r0, r1, r2 against x = 1), the second under another name. C2 reads
 * once for the two of the same name, and so may see 0, 1, 0.
 */
final class Coherence extends HandWritten<Coherence.Shared> {
  static final class Shared {
    Shared self;
    int x;
  }

  @Override
  Shared make() {
    Shared shared = new Shared();
    shared.self = shared;
    return shared;
  }

  @Override
  void race0(Shared shared, long[] results, int i) {
    shared.x = 1;
  }

  @Override
  void race1(Shared shared, long[] results, int i) {
    Shared other = shared.self;
    int first = shared.x;
    int second = other.x;
    int third = shared.x;
    results[3 * i] = first;
    results[3 * i + 1] = second;
    results[3 * i + 2] = third;
  }
}
