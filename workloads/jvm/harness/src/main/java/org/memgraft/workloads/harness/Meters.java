package org.memgraft.workloads.harness;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.Serializable;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** CPU time in nanoseconds, bytes allocated in the Java heap, and collections of it. */
public final class Meters {
  private static final OperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private static final ThreadMXBean THREADS =
      ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
  private static final List<GarbageCollectorMXBean> COLLECTORS =
      ManagementFactory.getGarbageCollectorMXBeans();

  private Meters() {}

  /**
   * All threads of this process, compilers and collectors included, and of those that it has
   * started and that still run; in steps of 10 ms on JDK 17, those of others always.
   */
  static long processCpu() {
    return PROCESS.getProcessCpuTime()
        + ProcessHandle.current()
            .descendants()
            .flatMap(process -> process.info().totalCpuDuration().stream())
            .mapToLong(Duration::toNanos)
            .sum();
  }

  static long currentThreadCpu() {
    return THREADS.getCurrentThreadCpuTime();
  }

  static long currentThreadAllocated() {
    return THREADS.getCurrentThreadAllocatedBytes();
  }

  /** Collections since the JVM's start, of the young generation and of the whole heap alike. */
  static long collections() {
    // Less than none: a collector that does not count.
    return COLLECTORS.stream().mapToLong(one -> Math.max(0, one.getCollectionCount())).sum();
  }

  /** CPU time and allocation since a thread began. */
  public record Used(long cpuNanos, long allocatedBytes) implements Serializable {
    static final Used NOTHING = new Used(0, 0);

    Used plus(Used other) {
      return new Used(cpuNanos + other.cpuNanos, allocatedBytes + other.allocatedBytes);
    }

    Used minus(Used other) {
      return new Used(cpuNanos - other.cpuNanos, allocatedBytes - other.allocatedBytes);
    }
  }

  /** What each living thread of this JVM whose name begins so has used, by its number. */
  public static Map<Long, Used> usedByThreadsNamed(String beginning) {
    Map<Long, Used> used = new HashMap<>();
    for (ThreadInfo thread : THREADS.getThreadInfo(THREADS.getAllThreadIds())) {
      if (thread == null || !thread.getThreadName().startsWith(beginning)) {
        continue; // null: it ended meanwhile
      }
      long id = thread.getThreadId();
      long cpu = THREADS.getThreadCpuTime(id);
      long allocated = THREADS.getThreadAllocatedBytes(id);
      if (cpu >= 0 && allocated >= 0) { // less: it has just ended
        used.put(id, new Used(cpu, allocated));
      }
    }
    return used;
  }

  /** All that these threads used since then; of a thread that is new everything. */
  static Used since(Map<Long, Used> before, Map<Long, Used> after) {
    return after.entrySet().stream()
        .map(now -> now.getValue().minus(before.getOrDefault(now.getKey(), Used.NOTHING)))
        .reduce(Used.NOTHING, Used::plus);
  }
}
