#include "monitors.h"

#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "memgraft/linux/perf_events.h"
#include "memgraft/observation/choose.h"
#include "memgraft/observation/hint_faults.h"
#include "memgraft/observation/in_process.h"
#include "memgraft/observation/pmu.h"
#include "memgraft/observation/replay.h"

namespace memgraft::placement {

using observation::Refusal;

namespace {

constexpr std::string_view kReplay = "replay:";
constexpr std::string_view kInside = "faults-in-process";

// Beside this program, where it is installed; or where it is built.
std::string sampler_library() {
  constexpr const char* kName = "libmemgraft_sampler.so";
  std::error_code unknown;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  const std::filesystem::path built = folder / "../../observation/sampler" / kName;
  const std::filesystem::path installed = folder / kName;
  return !std::filesystem::exists(installed, unknown) && std::filesystem::exists(built, unknown)
             ? std::filesystem::canonical(built, unknown)
             : installed;
}

}  // namespace

struct Monitors::Inside {
  std::unique_ptr<observation::InProcess> process;
  std::string why;  // there is none
};

Monitors::Monitors(std::string name, std::string root, observation::Sampling sampling)
    : name_(std::move(name)), root_(std::move(root)), sampling_(sampling) {}
Monitors::~Monitors() = default;

std::vector<std::string> Monitors::prepare_command() {
  // It is not what `auto` falls back to: a program may do what it cannot bear
  // (observation/sampler/README.md).
  if (name_ != kInside) {
    return {};
  }
  inside_ = std::make_unique<Inside>();
  auto prepared = observation::InProcess::prepare(sampler_library(), sampling_);
  if (auto* const refusal = std::get_if<Refusal>(&prepared)) {
    inside_->why = refusal->why;
    return {};
  }
  inside_->process = std::move(std::get<0>(prepared));
  return inside_->process->environment();
}

Chosen Monitors::watch_outside(pid_t process) const {
  Chosen chosen = observation::choose_for(process, linux_os::PerfEvents::real(), root_);
  if (auto* const refusal = std::get_if<Refusal>(&chosen)) {
    refusal->why += "; or, for a command, `--monitor faults-in-process`";
  }
  return chosen;
}

Chosen Monitors::watch_inside(pid_t process) const {
  if (!inside_ || !inside_->process) {
    return Refusal{inside_ ? inside_->why : "faults-in-process: only with -- COMMAND"};
  }
  return inside_->process->watch(process);
}

Chosen Monitors::watch(pid_t process) const {
  if (name_.starts_with(kReplay)) {
    return observation::replay_touches(name_.substr(kReplay.size()));
  }
  if (name_ == "hint-faults") {
    return observation::watch_hint_faults(process, linux_os::PerfEvents::real(), root_);
  }
  if (name_ == "pmu") {
    return observation::watch_memory_samples(process, linux_os::PerfEvents::real(), root_);
  }
  if (name_ == kInside) {
    return watch_inside(process);
  }
  return watch_outside(process);
}

}  // namespace memgraft::placement
