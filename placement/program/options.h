// What memgraft-place is told on its command line.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "memgraft/observation/in_process.h"

namespace memgraft::placement {

// The exit codes of all memgraft commands.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;  // the command, or what was to be written
inline constexpr int kWrongUsage = 2;
inline constexpr int kCannot = 3;

inline constexpr const char* kSays = "memgraft place: ";  // before every message

struct Options {
  pid_t pid = 0;                     // 0: `command` is started
  std::vector<std::string> command;  // empty: `pid` is attached to
  std::string monitor = "auto";
  double interval_seconds = 5;
  unsigned drain_milliseconds = 100;
  double duration_seconds = 0;  // 0: until its end
  bool dry_run = false;
  std::string record;
  bool map = false;
  std::string summary;
  unsigned freeze_after = 3;
  unsigned freeze_for = 10;
  double least_share = 0.2;
  bool ignore_move_cost = false;
  bool ignore_neighbours = false;
  std::uint64_t pages_per_second = 25600;  // 100 MiB/s
  observation::Sampling sampling;          // of faults-in-process
  double observing_cpu = 0.01;             // CPUs
  bool bind_threads = false;
  bool numa_balancing = false;
  std::string root;
};

// The options, or the code to exit with, after help or a message of one line.
struct Parsed {
  std::optional<Options> options;
  int exit_code = kDone;
};
Parsed parse_options(int count, const char* const* arguments);

}  // namespace memgraft::placement
