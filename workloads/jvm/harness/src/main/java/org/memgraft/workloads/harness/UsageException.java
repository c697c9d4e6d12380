package org.memgraft.workloads.harness;

/** The user asked for what cannot be had; the message says what to do instead. Exit code 2. */
public final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  public UsageException(String message) {
    super(message);
  }
}
