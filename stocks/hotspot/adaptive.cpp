#include "adaptive.h"

#include <algorithm>
#include <utility>

namespace memgraft::hotspot {

namespace {

// A helper needs a CPU to itself. Three quarters of one, because the threads that run are an average, which
// for a program that keeps one CPU busy is a little above 1.
constexpr double kIdleCpusNeeded = 0.75;
// The helper must be faster than the program allocates, or it is overtaken (Yang 2011, section 5.5:
// lusearch).
constexpr double kHelperMargin = 1.25;
constexpr double kGiga = 1e9;

}  // namespace

Adaptive::Adaptive(std::vector<ZeroingStrategy> on_thread, bool concurrent)
    : on_thread_(std::move(on_thread)), concurrent_(concurrent) {}

void Adaptive::learn(const EpochMeasured& measured) {
  if (measured.allocated_bytes < kLeastBytes || measured.program_cpu_seconds <= 0) {
    return;
  }
  if (measured.strategy == ZeroingStrategy::concurrent) {
    if (measured.helper_cpu_seconds > 0) {
      helper_bytes_per_second_ = static_cast<double>(measured.zeroed_bytes) / measured.helper_cpu_seconds;
    }
    return;
  }
  std::deque<double>& mine = costs_[measured.strategy];
  mine.push_back(measured.program_cpu_seconds / static_cast<double>(measured.allocated_bytes));
  if (mine.size() > kSamples) {
    mine.pop_front();
  }
}

std::size_t Adaptive::samples(ZeroingStrategy strategy) const {
  const auto found = costs_.find(strategy);
  return found == costs_.end() ? 0 : found->second.size();
}

double Adaptive::cost(ZeroingStrategy strategy) const {
  const std::deque<double>& mine = costs_.at(strategy);
  std::vector<double> sorted(mine.begin(), mine.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

bool Adaptive::helper_pays(const EpochMeasured& measured, double running, double cpus,
                           std::string& why) const {
  if (!concurrent_) {
    return false;
  }
  if (cpus - running < kIdleCpusNeeded) {
    why = "no CPU is idle";
    return false;
  }
  const double allocated_per_second = static_cast<double>(measured.allocated_bytes) / measured.wall_seconds;
  if (helper_bytes_per_second_ > 0 && allocated_per_second * kHelperMargin > helper_bytes_per_second_) {
    why = "the program allocates faster than the helper zeroes";
    return false;
  }
  why = "a CPU is idle";
  return true;
}

Adaptive::Decision Adaptive::on_thread(std::uint64_t collection) const {
  Decision decision{.collection = collection, .strategy = on_thread_.front(), .reason = {}};
  // In turn while they are not known, so that a machine that becomes slower costs all of them the same.
  const auto fewest =
      std::ranges::min_element(on_thread_, {}, [this](ZeroingStrategy s) { return samples(s); });
  if (samples(*fewest) < kEnough) {
    decision.strategy = *fewest;
    decision.reason = "not yet measured often enough";
    return decision;
  }
  if (on_thread_.size() > 1 && collection % kTryAgainEvery == 0) {
    decision.strategy = on_thread_.at(collection / kTryAgainEvery % on_thread_.size());
    decision.reason = "measured again";
    return decision;
  }
  decision.strategy =
      *std::ranges::min_element(on_thread_, {}, [this](ZeroingStrategy s) { return cost(s); });
  decision.reason = "the least CPU time per allocated byte so far";
  return decision;
}

Adaptive::Decision Adaptive::decide(const EpochMeasured& measured, double cpus) {
  learn(measured);
  const double wall = std::max(measured.wall_seconds, 1e-9);
  const double running = measured.process_cpu_seconds / wall;
  const double zeroing = measured.zeroing_seconds + measured.helper_cpu_seconds;
  const std::uint64_t collection = measured.collection + 1;
  std::string why;
  Decision decision = on_thread(collection);
  // An epoch too short to learn from says nothing about idle CPUs either.
  if (measured.allocated_bytes >= kLeastBytes && helper_pays(measured, running, cpus, why)) {
    decision.strategy = ZeroingStrategy::concurrent;
    decision.reason = why;
  } else if (!why.empty()) {
    decision.reason = why + "; " + decision.reason;
  }
  decision.running_threads = running;
  decision.cpus = cpus;
  decision.gigabytes_per_second =
      zeroing > 0 ? static_cast<double>(measured.zeroed_bytes) / zeroing / kGiga : 0.0;
  return decision;
}

}  // namespace memgraft::hotspot
