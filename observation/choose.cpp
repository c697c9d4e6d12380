#include "memgraft/observation/choose.h"

#include <array>

#include "memgraft/observation/hint_faults.h"
#include "memgraft/observation/pmu.h"

namespace memgraft::observation {

Watching choose(std::span<const Candidate> candidates) {
  std::string reasons;
  for (const Candidate& watch : candidates) {
    Watching watching = watch();
    const Refusal* const refusal = std::get_if<Refusal>(&watching);
    if (refusal == nullptr) {
      return watching;
    }
    reasons += (reasons.empty() ? "" : "; ") + refusal->why;
  }
  return Refusal{reasons};
}

Watching choose_for(pid_t pid, linux_os::PerfEvents& perf, const std::string& root) {
  const std::array<Candidate, 2> candidates = {[&] { return watch_memory_samples(pid, perf, root); },
                                               [&] { return watch_hint_faults(pid, perf, root); }};
  return choose(candidates);
}

}  // namespace memgraft::observation
