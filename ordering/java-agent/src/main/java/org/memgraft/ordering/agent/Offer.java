package org.memgraft.ordering.agent;

/**
 * A class file that the JVM, or the JDK, offers to be rewritten.
 *
 * @param loader that defines it; null: the JVM's own, and with a hidden class any
 */
record Offer(ClassLoader loader, byte[] bytes, Origin origin) {
  enum Origin {
    /** The class is being loaded. */
    LOADED,
    /** It was loaded before. */
    AGAIN,
    HIDDEN
  }

  /** The same class with other bytes. */
  Offer with(byte[] others) {
    return new Offer(loader, others, origin);
  }

  /** Of a class that is being loaded. */
  static Offer loaded(ClassLoader loader, byte[] bytes) {
    return new Offer(loader, bytes, Origin.LOADED);
  }
}
