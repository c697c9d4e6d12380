package org.memgraft.workloads.harness;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** CPU time in nanoseconds, and bytes allocated in the Java heap. */
final class Meters {
  private static final OperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private static final ThreadMXBean THREADS =
      ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

  private Meters() {}

  /** All threads, compilers and collectors included; in steps of 10 ms on JDK 17. */
  static long processCpu() {
    return PROCESS.getProcessCpuTime();
  }

  static long currentThreadCpu() {
    return THREADS.getCurrentThreadCpuTime();
  }

  static long currentThreadAllocated() {
    return THREADS.getCurrentThreadAllocatedBytes();
  }
}
