package org.memgraft.workloads.harness;

/** The program ran but came out wrong, or did not come through. Exit code 1. */
public class WorkloadFailure extends Exception {
  private static final long serialVersionUID = 1L;

  public WorkloadFailure(String message) {
    super(message);
  }

  /** For what nobody foresaw: the cause's stack trace is printed too. */
  public WorkloadFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
