package org.memgraft.workloads.churn;

import org.memgraft.workloads.harness.Size;
import org.memgraft.workloads.harness.Worker;
import org.memgraft.workloads.harness.Workload;

/**
 * An allocation storm that trusts nothing: every fresh array and object must be all zero before it
 * is scribbled over and dropped, so that the next one to get its memory meets dirt if nobody
 * cleaned.
 */
public final class Churn implements Workload {
  private static final int SMALL_STORMS = 200;
  private static final int DEFAULT_STORMS = 4000;

  private int storms;

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("400570c5bf238c82", "5e70645fc66686c6");
  }

  @Override
  public void prepare(Size size) {
    storms = size.pick(SMALL_STORMS, DEFAULT_STORMS);
  }

  @Override
  public int items() {
    return storms;
  }

  @Override
  public Worker newWorker() {
    return new Storm();
  }
}
