#include "zeroing/epochs.h"

#include <algorithm>
#include <utility>

namespace memgraft::hotspot {

Epochs::Epochs(ZeroingStrategy strategy, std::optional<ZeroingStrategy> against)
    : strategy_(strategy), against_(against), now_(strategy) {
  start_ = clock_.read();
}

Epochs::Epochs(Adaptive adaptive)
    : strategy_(ZeroingStrategy::adaptive), adaptive_(std::move(adaptive)), now_() {
  start_ = clock_.read();
  now_ = adaptive_->decide({}, cpus()).strategy;
}

Epochs::Side Epochs::side_after(std::uint64_t collection) const {
  // A B B A A B B A ...: a program, or a machine, that becomes steadily slower costs both sides the same.
  constexpr std::uint64_t kPeriod = 4;
  const std::uint64_t place = collection % kPeriod;
  return against_ && (place == 1 || place == 2) ? Side::baseline : Side::grafted;
}

void Epochs::collection_starts(const ZeroingTotals& totals) {
  const std::scoped_lock lock(mutex_);
  if (collecting_) {
    return;
  }
  collecting_ = true;
  const ProgramClock::Reading now = clock_.read();
  last_ = {.collection = collections_,
           .strategy = now_,
           .wall_seconds = now.wall_seconds - start_.wall_seconds,
           .process_cpu_seconds = now.process_cpu_seconds - start_.process_cpu_seconds,
           .program_cpu_seconds = now.program_cpu_seconds - start_.program_cpu_seconds,
           .helper_cpu_seconds = totals.helper_cpu_seconds - start_totals_.helper_cpu_seconds,
           .zeroing_seconds = totals.zeroing_seconds - start_totals_.zeroing_seconds,
           .zeroed_bytes = totals.zeroed_bytes - start_totals_.zeroed_bytes,
           .allocated_bytes = totals.allocated_bytes - start_totals_.allocated_bytes};
  if (against_ && records_.size() < kMostRecords) {
    records_.push_back({.side = side_after(collections_), .measured = last_});
  }
}

ZeroingStrategy Epochs::collection_ended(const ZeroingTotals& totals) {
  const std::scoped_lock lock(mutex_);
  if (collecting_) {
    collecting_ = false;
    ++collections_;
    decide();
  }
  start_totals_ = totals;
  start_ = clock_.read();
  return now_;
}

CpusNow Epochs::cpus() {
  return {.usable = clock_.cpus(),
          .idle = adaptive_ && adaptive_->may_use_the_helper() ? clock_.idle_cpus() : 0};
}

void Epochs::decide() {
  if (adaptive_) {
    const Adaptive::Decision decision = adaptive_->decide(last_, cpus());
    ++decisions_[decision.strategy];
    if (changes_.empty() || decision.strategy != now_) {
      if (changes_.size() == kMostChanges) {
        changes_.pop_front();
      }
      changes_.push_back(decision);
    }
    now_ = decision.strategy;
  } else {
    now_ = side_after(collections_) == Side::grafted ? strategy_ : against_.value_or(strategy_);
  }
}

std::vector<Epochs::Record> Epochs::records() const {
  const std::scoped_lock lock(mutex_);
  return records_;
}

std::vector<Adaptive::Decision> Epochs::changes() const {
  const std::scoped_lock lock(mutex_);
  return {changes_.begin(), changes_.end()};
}

std::map<ZeroingStrategy, std::uint64_t> Epochs::decisions() const {
  const std::scoped_lock lock(mutex_);
  return decisions_;
}

std::uint64_t Epochs::collections() const {
  const std::scoped_lock lock(mutex_);
  return collections_;
}

}  // namespace memgraft::hotspot
