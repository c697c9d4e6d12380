// Memory accesses as the CPU's performance monitoring unit samples them, with their latency.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <variant>

#include "memgraft/linux/perf_events.h"
#include "memgraft/observation/monitor.h"

namespace memgraft::observation {

// With what there is: Intel's PEBS (loads of kLoadLatency cycles and more, and stores), AMD's IBS
// (operations; of them the loads and stores), or Arm's SPE (loads and stores). Processes, exec(2), `perf` and
// `root` as for watch_hint_faults(). Each needs the CPU itself: most virtual machines have none.
//
// A thread is sampled kSamplesPerSecond times a second at most, for which the kernel adapts the period; SPE's
// is fixed.
inline constexpr unsigned kLoadLatency = 30;         // as `perf mem`: beyond the caches of a core
inline constexpr unsigned kSamplesPerSecond = 1000;  // some 0.2 % of a CPU, at 2 us an interrupt
inline constexpr unsigned kSpePeriod = 65536;        // operations: some 50 000 a second before the filter
std::variant<std::unique_ptr<Monitor>, Refusal> watch_memory_samples(pid_t pid, linux_os::PerfEvents& perf,
                                                                     const std::string& root);

}  // namespace memgraft::observation
