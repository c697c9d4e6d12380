// What happens from one collection to the next: which strategy is in force, what it cost, and which comes
// next.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "clocks/program_clock.h"
#include "zeroing/adaptive.h"
#include "zeroing/strategy.h"

namespace memgraft::hotspot {

// What the graft has counted so far; an epoch's figures are differences of two of these.
struct ZeroingTotals {
  std::uint64_t allocated_bytes = 0;  // handed out by the heap: TLABs and objects outside them
  std::uint64_t zeroed_bytes = 0;
  double zeroing_seconds = 0;  // by the program's own threads
  double helper_cpu_seconds = 0;
};

class Epochs {
 public:
  enum class Side : std::uint8_t { grafted, baseline };
  struct Record {
    Side side = Side::grafted;
    EpochMeasured measured;
  };

  // One strategy all the time, or two in turn.
  Epochs(ZeroingStrategy strategy, std::optional<ZeroingStrategy> against);
  // Decided after each collection.
  explicit Epochs(Adaptive adaptive);

  [[nodiscard]] ZeroingStrategy first() const { return now_; }
  // With the world stopped. A collection inside another one, or a second event for the same one, changes
  // nothing.
  void collection_starts(const ZeroingTotals& totals);
  // Returns the strategy until the next collection.
  ZeroingStrategy collection_ended(const ZeroingTotals& totals);

  // Copies for the summary, which another thread writes while collections may still happen.
  [[nodiscard]] std::vector<Record> records() const;
  [[nodiscard]] std::vector<Adaptive::Decision> changes() const;
  [[nodiscard]] std::map<ZeroingStrategy, std::uint64_t> decisions() const;
  [[nodiscard]] std::uint64_t collections() const;
  [[nodiscard]] ZeroingStrategy strategy() const { return strategy_; }

 private:
  static constexpr std::size_t kMostRecords = 100'000;
  static constexpr std::size_t kMostChanges = 256;

  [[nodiscard]] Side side_after(std::uint64_t collection) const;
  void decide();
  [[nodiscard]] CpusNow cpus();

  ZeroingStrategy strategy_;
  std::optional<ZeroingStrategy> against_;
  std::optional<Adaptive> adaptive_;
  ZeroingStrategy now_;

  mutable std::mutex mutex_;
  bool collecting_ = false;
  std::uint64_t collections_ = 0;
  ProgramClock clock_;
  ProgramClock::Reading start_;
  ZeroingTotals start_totals_;
  EpochMeasured last_;
  std::vector<Record> records_;
  std::deque<Adaptive::Decision> changes_;
  std::map<ZeroingStrategy, std::uint64_t> decisions_;
};

}  // namespace memgraft::hotspot
