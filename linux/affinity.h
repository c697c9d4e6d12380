// The CPUs that the scheduler may put this process on.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <array>
#include <optional>

namespace memgraft::linux_os {

struct Affinity {
  // 8192 is the most CPUs that Linux can be built for (NR_CPUS of arch/x86/Kconfig with MAXSMP);
  // sched_getaffinity(2) fails with a smaller set than the kernel's own.
  std::array<cpu_set_t, 8192 / CPU_SETSIZE> set{};

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(CPU_COUNT_S(sizeof set, set.data())); }
  [[nodiscard]] bool has(unsigned cpu) const { return CPU_ISSET_S(cpu, sizeof set, set.data()); }
};

// nullopt where a sandbox forbids the call.
inline std::optional<Affinity> affinity_of_process() noexcept {
  Affinity affinity;
  // Of the process's main thread: the calling one may have been pinned by itself.
  if (sched_getaffinity(getpid(), sizeof affinity.set, affinity.set.data()) != 0) {
    return std::nullopt;
  }
  return affinity;
}

}  // namespace memgraft::linux_os
