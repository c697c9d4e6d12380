// kernel.numa_balancing for the length of a run.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "memgraft/linux/owned_fd.h"
#include "memgraft/observation/monitor.h"

namespace memgraft::observation {

// Why the kernel makes no hint faults, and what to do; nullopt where it does.
std::optional<std::string> why_no_hint_faults(const std::string& root);

// Turns it on, for the whole machine, and restores the old value at its end, whatever that is: a small
// process of its own, in a session of its own, waits for the end of a pipe and writes the value back, also
// when this one is killed with SIGKILL. (Only who kills that process too, by its number or with its control
// group, prevents it.)
//
// Where it was on already nothing is changed, and nothing restored. The old value is written back only if the
// value is still the one that was set; of several at a time, by the last one (they hold a lock of the
// setting's file).
class NumaBalancing {
 public:
  static std::variant<std::unique_ptr<NumaBalancing>, Refusal> turn_on(const std::string& root);
  ~NumaBalancing();  // the old value is back when it returns
  NumaBalancing(const NumaBalancing&) = delete;
  NumaBalancing& operator=(const NumaBalancing&) = delete;
  NumaBalancing(NumaBalancing&&) = delete;
  NumaBalancing& operator=(NumaBalancing&&) = delete;

  [[nodiscard]] bool changed() const { return guardian_ > 0; }

 private:
  NumaBalancing() = default;

  linux_os::OwnedFd alive_;  // the pipe's end whose closing the guardian waits for
  pid_t guardian_ = 0;
};

}  // namespace memgraft::observation
