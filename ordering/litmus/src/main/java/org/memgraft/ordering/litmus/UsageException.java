package org.memgraft.ordering.litmus;

/** The user asked for what cannot be had; the message says what to do instead. Exit code 2. */
final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  UsageException(String message) {
    super(message);
  }
}
