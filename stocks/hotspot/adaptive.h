// Which way of zeroing to take until the next collection. Pure: what was measured in, a decision out.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "strategy.h"

namespace memgraft::hotspot {

// What an epoch, the time from the end of one collection to the start of the next, was like.
struct EpochMeasured {
  std::uint64_t collection = 0;  // the one after which it began; 0: before the first
  ZeroingStrategy strategy = ZeroingStrategy::bulk;
  double wall_seconds = 0;
  double process_cpu_seconds = 0;  // of all threads but the helper
  double program_cpu_seconds = 0;  // of the program's own threads: no compiler, no collector, no helper
  double helper_cpu_seconds = 0;
  double zeroing_seconds = 0;      // by the program's own threads
  std::uint64_t zeroed_bytes = 0;  // by them and by the helper
  std::uint64_t allocated_bytes = 0;
};

class Adaptive {
 public:
  struct Decision {
    std::uint64_t collection = 0;  // after which it was made
    ZeroingStrategy strategy = ZeroingStrategy::windows;
    double running_threads = 0;  // of the epoch before
    double cpus = 0;
    double gigabytes_per_second = 0;  // of that epoch's zeroing; 0: nothing was zeroed
    std::string reason;
  };

  // `on_thread` are the strategies that zero on the allocating thread, the first of them taken while nothing
  // is known. `concurrent`: whether the helper may be used at all.
  Adaptive(std::vector<ZeroingStrategy> on_thread, bool concurrent);

  // Decides for the time after `measured`. `cpus` is how many this process may use now, in CPUs.
  Decision decide(const EpochMeasured& measured, double cpus);

 private:
  // An epoch shorter than this says nothing: a collection that was asked for, or a heap walk.
  static constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20U;
  static constexpr std::size_t kSamples = 9;  // kept per strategy: odd, so that the median is one of them
  static constexpr std::size_t kEnough = 3;   // samples before a strategy is judged
  static constexpr std::uint64_t kTryAgainEvery =
      16;  // collections: a strategy not in use is looked at again

  void learn(const EpochMeasured& measured);
  [[nodiscard]] bool helper_pays(const EpochMeasured& measured, double running, double cpus,
                                 std::string& why) const;
  [[nodiscard]] Decision on_thread(std::uint64_t collection) const;
  // Program CPU seconds per allocated byte, median of the samples.
  [[nodiscard]] double cost(ZeroingStrategy strategy) const;
  [[nodiscard]] std::size_t samples(ZeroingStrategy strategy) const;

  std::vector<ZeroingStrategy> on_thread_;
  bool concurrent_;
  std::map<ZeroingStrategy, std::deque<double>> costs_;
  double helper_bytes_per_second_ = 0;  // 0: not yet seen
};

}  // namespace memgraft::hotspot
