// Touches seen from inside the program: a preloaded library makes pages inaccessible for a while, and who
// touches one next is recorded. It needs no privileges, no counters and nothing of the kernel.
//
//   auto prepared = InProcess::prepare(library);
//   ... fork; in the child: putenv of environment(), exec ...
//   auto monitor = in_process->watch(child);
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "memgraft/observation/monitor.h"

namespace memgraft::observation {

struct Shared;

struct Sampling {
  std::uint32_t pages_per_second = 1600;          // at most
  std::uint64_t least_mapping_bytes = 1U << 20U;  // smaller ones hold the C library's small objects
  double cpu_share = 0.005;                       // of one CPU: its thread's time, and the touches'
  bool with_brk = false;  // the program break's memory: small objects among large ones
};

class InProcess {
 public:
  // Library: the path of libmemgraft_sampler.so.
  static std::variant<std::unique_ptr<InProcess>, Refusal> prepare(const std::string& library,
                                                                   const Sampling& sampling = {});

  // NAME=VALUE, for one program, which inherits the file descriptor that is named there. LD_PRELOAD keeps
  // what it names in this process.
  [[nodiscard]] std::vector<std::string> environment() const;

  // The child that the environment was for; touches of any other process are left out. Lives on its own.
  std::unique_ptr<Monitor> watch(pid_t child);

  // One line: what became of the sampler in the program.
  [[nodiscard]] std::string standing() const;

  class Memory;  // what is shared with the program

  explicit InProcess(std::string library, std::shared_ptr<Memory> memory);

 private:
  std::string library_;
  std::shared_ptr<Memory> memory_;
};

}  // namespace memgraft::observation
