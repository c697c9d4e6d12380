// `--monitor auto`: the first monitor that works here.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "memgraft/linux/perf_events.h"
#include "memgraft/observation/monitor.h"

namespace memgraft::observation {

using Watching = std::variant<std::unique_ptr<Monitor>, Refusal>;
using Candidate = std::function<Watching()>;

// The first of them that works, in their order; the others are not tried. Or all reasons in one line.
Watching choose(std::span<const Candidate> candidates);

// For a process that runs already, or is stopped before its exec: memory samples, then hint faults. Not the
// sampler inside the process (in_process.h), which not every program bears.
Watching choose_for(pid_t pid, linux_os::PerfEvents& perf, const std::string& root);

}  // namespace memgraft::observation
