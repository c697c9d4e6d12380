// The monitor that was asked for, or the best that this machine has.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "memgraft/observation/in_process.h"
#include "memgraft/observation/monitor.h"

namespace memgraft::placement {

using Chosen = std::variant<std::unique_ptr<observation::Monitor>, observation::Refusal>;

// For one run. A monitor that works inside the program has something to do before that starts.
class Monitors {
 public:
  // `name` as in --monitor; `root` as in Options.
  Monitors(std::string name, std::string root, observation::Sampling sampling = {});
  ~Monitors();
  Monitors(const Monitors&) = delete;
  Monitors& operator=(const Monitors&) = delete;
  Monitors(Monitors&&) = delete;
  Monitors& operator=(Monitors&&) = delete;

  // Before a command is started: what is added to its environment.
  std::vector<std::string> prepare_command();
  // auto: memory samples of the PMU, where it has them; else hint faults; else, of a command, faults inside
  // of it. The refusal is one line, of all that were tried.
  [[nodiscard]] Chosen watch(pid_t process) const;

 private:
  struct Inside;  // what prepare_command() prepared
  [[nodiscard]] Chosen watch_outside(pid_t process) const;
  [[nodiscard]] Chosen watch_inside(pid_t process) const;

  std::string name_;
  std::string root_;
  observation::Sampling sampling_;
  std::unique_ptr<Inside> inside_;
};

}  // namespace memgraft::placement
