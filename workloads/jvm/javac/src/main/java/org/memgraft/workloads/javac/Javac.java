package org.memgraft.workloads.javac;

import java.io.IOException;
import java.util.List;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.Size;
import org.memgraft.workloads.harness.Worker;
import org.memgraft.workloads.harness.Workload;

/**
 * Compiles the sources of ANTLR's runtime from memory to memory; each item is one whole
 * compilation.
 */
public final class Javac implements Workload {
  private static final int SMALL_COMPILATIONS = 2;
  private static final int DEFAULT_COMPILATIONS = 4;

  private List<Source> sources;
  private int compilations;

  @Override
  public int defaultIterations(Size size) {
    return size.pick(3, 8);
  }

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("3254b709c7c0025e", "00b109d18eaac048");
  }

  @Override
  public void prepare(Size size) throws IOException {
    sources = Source.load(size);
    compilations = size.pick(SMALL_COMPILATIONS, DEFAULT_COMPILATIONS);
  }

  @Override
  public int items() {
    return compilations;
  }

  @Override
  public Worker newWorker() {
    Compilation compilation = new Compilation(sources);
    return item -> Checksum.of(item, compilation.run());
  }
}
