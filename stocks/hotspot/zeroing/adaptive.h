// Which way of zeroing to take until the next collection. Pure: what was measured in, a decision out.
//
// What an allocated byte costs a program changes as it warms up and from phase to phase, by more than any
// strategy does. So costs of different times are never compared: a challenger has single epochs between two
// of the strategy in use, and is judged by the ratio to those two neighbours.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "zeroing/strategy.h"

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

// What this process may use, in CPUs.
struct CpusNow {
  double usable = 0;  // its affinity and its quotas
  double idle = 0;    // of these lately, whoever ran on the others, the helper too
};

class Adaptive {
 public:
  struct Decision {
    std::uint64_t collection = 0;  // after which it was made
    ZeroingStrategy strategy = ZeroingStrategy::bulk;
    double running_threads = 0;  // of the epoch before
    double cpus = 0;
    double idle_cpus = 0;             // with what the helper used
    double gigabytes_per_second = 0;  // of that epoch's zeroing; 0: nothing was zeroed
    std::string reason;
  };

  // `on_thread` are the strategies that zero on the allocating thread, the first of them the one in use until
  // another proves better. `concurrent`: whether the helper may be used at all.
  Adaptive(const std::vector<ZeroingStrategy>& on_thread, bool concurrent);

  [[nodiscard]] bool may_use_the_helper() const { return concurrent_; }
  // Decides for the time after `measured`.
  Decision decide(const EpochMeasured& measured, CpusNow cpus);

 private:
  // An epoch shorter than this says nothing: a collection that was asked for, or a heap walk.
  static constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20U;
  static constexpr std::size_t kSamples = 16;          // trials remembered
  static constexpr std::size_t kEnough = 3;            // trials before a challenger may take over
  static constexpr std::uint64_t kTryAgainEvery = 32;  // collections: one that was no better is tried again

  // A strategy that is not in use, and how its trials went.
  struct Challenger {
    ZeroingStrategy strategy = ZeroingStrategy::bulk;
    std::deque<double> trials;     // log of its cost over the incumbent's, the newest last
    std::uint64_t not_before = 0;  // collection
  };
  // An epoch with a challenger, until the incumbent's epoch after it is known too.
  struct Trial {
    ZeroingStrategy strategy = ZeroingStrategy::bulk;
    double cost = 0;
  };

  void learn(const EpochMeasured& measured);
  void judge(Challenger& challenger, double log_ratio, std::uint64_t collection);
  // The one to be tried next; null: none is due.
  [[nodiscard]] const Challenger* next_challenger(std::uint64_t collection) const;
  [[nodiscard]] bool helper_pays(const EpochMeasured& measured, double running, CpusNow cpus,
                                 std::string& why) const;
  [[nodiscard]] Decision on_thread(std::uint64_t collection) const;

  ZeroingStrategy incumbent_;
  std::vector<Challenger> challengers_;
  bool concurrent_;
  // Program CPU seconds per allocated byte in the incumbent's last epoch; empty where nothing may be compared
  // with it: the epochs since then do not follow each other.
  std::optional<double> incumbent_cost_;
  bool steady_ = false;  // the last two epochs were the incumbent's, and cost about the same
  std::optional<Trial> trial_;
  double helper_bytes_per_second_ = 0;  // 0: not yet seen
};

}  // namespace memgraft::hotspot
