package org.memgraft.ordering.litmus;

import java.util.concurrent.ThreadFactory;

/** Virtual threads, found by reflection: this is compiled for Java 17, which has none. */
final class VirtualThreads {
  /** As many as the largest race has threads, each of which spins until it meets the others. */
  private static final int CARRIERS = 4;

  private static final String PARALLELISM = "jdk.virtualThreadScheduler.parallelism";

  private VirtualThreads() {}

  /** To be called before there is any virtual thread, or their scheduler has its carriers. */
  static ThreadFactory factory() throws UsageException {
    if (System.getProperty(PARALLELISM) == null) {
      System.setProperty(PARALLELISM, Integer.toString(CARRIERS));
    }
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      Class<?> type = Class.forName("java.lang.Thread$Builder");
      return (ThreadFactory) type.getMethod("factory").invoke(builder);
    } catch (ReflectiveOperationException e) {
      throw new UsageException(
          "--virtual-threads: Java "
              + Runtime.version().feature()
              + " has none; expected 21 or later");
    }
  }
}
