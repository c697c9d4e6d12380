// How many CPUs may this process use, now?
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "memgraft/linux/cgroups.h"

namespace memgraft::linux_os {

struct Cpus {
  static constexpr double kNoQuota = std::numeric_limits<double>::infinity();

  // CPUs that the scheduler may put the process on: its affinity, in which cpusets and offline CPUs are
  // already taken into account (sched_getaffinity(2)).
  unsigned allowed = 1;
  // CPU seconds per second that its control groups grant: the smallest quota / period of its group and all
  // above it. 0.1 is a tenth of one CPU.
  double quota = kNoQuota;

  // Both together, at least as strict as each.
  [[nodiscard]] double usable() const { return std::min(static_cast<double>(allowed), quota); }
};

// Reads the limits anew at each call, because quotas change while a program runs.
//
// A call costs one system call for the affinity, three (open, read, close) for /proc/self/cgroup, and three
// for each quota file that the groups have or could have: see README.md. It allocates only when the process
// has moved to another group since the call before. One thread at a time.
//
// What is not seen: per-thread groups of version 2 ("threaded"; the main thread's group counts), shares and
// weights (they limit nothing while others idle), and real-time budgets.
class CpuLimits {
 public:
  // `root` is what /proc and /sys are looked for in; tests fake it.
  explicit CpuLimits(std::string root = "");

  // Never fails: a file that is missing or makes no sense sets no limit.
  Cpus now() noexcept;

 private:
  void follow_groups();

  std::string root_;
  std::string groups_file_;
  std::string groups_;    // /proc/self/cgroup as it was when `files_` was made
  std::string read_now_;  // kept for its capacity
  std::vector<QuotaFiles> files_;
};

}  // namespace memgraft::linux_os
