// How many of the CPUs that this process may use are idle, whoever runs on the others?
#pragma once

#include <optional>
#include <string>

#include "memgraft/units.h"

namespace memgraft::linux_os {

// Reads /proc/stat (proc_stat(5)), at most once in kWindow: 11 us with two CPUs; the counts of interrupts
// that stand there too make it longer on larger machines. One thread at a time.
//
// Time that waits for a disk counts as idle; time that a hypervisor gave to another machine does not. In a
// container /proc/stat is the machine's: that is what is wanted here.
class IdleCpus {
 public:
  // Linux counts hundredths of a second: so long that one more or less hardly matters.
  static constexpr Nanoseconds kWindow = Nanoseconds(250'000'000);

  // `root` is what /proc is looked for in; tests fake it.
  explicit IdleCpus(std::string root = "");

  // The mean over the last stretch of at least kWindow, in CPUs; 0 before the first one is over. nullopt
  // where the system does not say. `time` is of any clock that does not go back.
  std::optional<double> now(Nanoseconds time) noexcept;

 private:
  struct Reading {
    Nanoseconds time;
    double idle_seconds = 0;
    unsigned cpus = 0;
  };

  std::optional<Reading> read(Nanoseconds time);
  static double mean_between(const Reading& before, const Reading& after);

  std::string file_;
  std::string content_;  // kept for its capacity
  std::optional<Reading> last_;
  std::optional<double> mean_;
};

}  // namespace memgraft::linux_os
