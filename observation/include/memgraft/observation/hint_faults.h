// The kernel's own sampling: with kernel.numa_balancing on, it takes pages away from threads for a moment, so
// that the next touch of each is a page fault; perf events tell of these faults. No PMU is needed.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <variant>

#include "memgraft/linux/perf_events.h"
#include "memgraft/observation/monitor.h"

namespace memgraft::observation {

// From now on, for all threads of the process and those that begin later, over exec(2) too: a child that was
// started stopped is watched from its first instruction on. (A set-user-ID program is lost at its exec.)
// Other processes, children too, are not seen. `root` is where tests put a /proc and a /sys; `perf` must live
// as long as the monitor.
//
// Needs no privilege for one's own processes up to perf_event_paranoid 2. Faults inside of system calls are
// not seen. Memory: ProcessEvents::kRingBytes per CPU, less where perf_event_mlock_kb allows less.
//
// How often the kernel scans is its own choice: seldom where faults are local, down to once a minute
// (scan_period_max_ms in /sys/kernel/debug/sched/numa_balancing). It goes through addresses and not pages: in
// a process with terabytes of reserved addresses, as under a sanitizer, a scan takes hours.
//
// Programs that touch new memory all the time, as JVMs do, have tens of thousands of faults a second:
// then it watches for a part of the time (its hindrance() says which), so that there are `most_per_cpu` of
// them a second and CPU of the machine on average. Reading and weighing one takes about 1.2 microseconds.
inline constexpr double kMostSamplesPerCpu = 2500;
std::variant<std::unique_ptr<Monitor>, Refusal> watch_hint_faults(pid_t pid, linux_os::PerfEvents& perf,
                                                                  const std::string& root,
                                                                  double most_per_cpu = kMostSamplesPerCpu);

}  // namespace memgraft::observation
