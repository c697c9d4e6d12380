package org.memgraft.ordering.agent;

import java.util.concurrent.atomic.AtomicLongArray;

/** How many places of each kind have got fences. Many threads add to it: whoever loads a class. */
final class Sites {
  private final AtomicLongArray counts = new AtomicLongArray(Site.values().length);

  void add(Site site) {
    counts.incrementAndGet(site.ordinal());
  }

  void add(Sites others) {
    for (Site site : Site.values()) {
      counts.addAndGet(site.ordinal(), others.of(site));
    }
  }

  long of(Site site) {
    return counts.get(site.ordinal());
  }
}
