package org.memgraft.workloads.harness;

import java.util.Locale;

/**
 * What one iteration reports: docs/formats.md, section 4.
 *
 * @param cpuSeconds CPU time of the whole process
 * @param workerCpuSeconds CPU time of the threads that did the work
 * @param allocatedBytes what those threads allocated in the Java heap
 * @param collections how often the garbage collectors of this JVM ran
 */
record IterationReport(
    int iteration,
    String workload,
    double wallSeconds,
    double cpuSeconds,
    double workerCpuSeconds,
    long allocatedBytes,
    long collections,
    String checksum) {

  /** One line, without its end. No string in it needs escaping: names and hexadecimal digits. */
  String toJson() {
    return String.format(
        Locale.ROOT,
        "{\"memgraft_iteration\": %d, \"workload\": \"%s\", \"wall_seconds\": %.6f,"
            + " \"cpu_seconds\": %.6f, \"worker_cpu_seconds\": %.6f,"
            + " \"allocated_bytes\": %d, \"collections\": %d, \"checksum\": \"%s\"}",
        iteration,
        workload,
        wallSeconds,
        cpuSeconds,
        workerCpuSeconds,
        allocatedBytes,
        collections,
        checksum);
  }
}
