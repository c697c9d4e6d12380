package org.memgraft.workloads.harness;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** CPU time in nanoseconds. */
final class CpuClock {
  private static final OperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private CpuClock() {}

  /** All threads, compilers and collectors included; in steps of 10 ms on JDK 17. */
  static long process() {
    return PROCESS.getProcessCpuTime();
  }

  static long currentThread() {
    return THREADS.getCurrentThreadCpuTime();
  }
}
