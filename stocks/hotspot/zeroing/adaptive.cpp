#include "zeroing/adaptive.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

namespace memgraft::hotspot {

namespace {

// A helper needs a CPU to itself. Three quarters of one, because the threads that run are an average, which
// for a program that keeps one CPU busy is a little above 1.
constexpr double kIdleCpusNeeded = 0.75;
// The helper must be faster than the program allocates, or it is overtaken (Yang 2011, section 5.5:
// lusearch).
constexpr double kHelperMargin = 1.25;
// While a program warms up its costs fall from epoch to epoch, by another factor each time: nothing is tried
// before two neighbours are as close as this, and a trial between two that differ by more does not count.
constexpr double kSteady = 1.1;
constexpr double kStillSteady = 1.2;
// A gain below that is none.
constexpr double kBetter = 0.99;
// One trial like that, or the mean of several like this, and it has to wait: a program of twenty collections
// cannot afford many of them.
constexpr double kHopeless = 1.05;
constexpr double kPromising = 0.98;
constexpr double kGiga = 1e9;

struct Estimate {
  double mean = 0;
  double standard_error = 0;
};

Estimate estimate(const std::deque<double>& values) {
  const auto n = static_cast<double>(values.size());
  Estimate found;
  for (const double value : values) {
    found.mean += value / n;
  }
  double squares = 0;
  for (const double value : values) {
    squares += (value - found.mean) * (value - found.mean);
  }
  found.standard_error = std::sqrt(squares / (n - 1) / n);
  return found;
}

bool close(double a, double b, double factor) { return std::abs(std::log(a / b)) <= std::log(factor); }

}  // namespace

Adaptive::Adaptive(const std::vector<ZeroingStrategy>& on_thread, bool concurrent)
    : incumbent_(on_thread.front()), concurrent_(concurrent) {
  for (const ZeroingStrategy strategy : on_thread | std::views::drop(1)) {
    challengers_.push_back({.strategy = strategy, .trials = {}});
  }
}

void Adaptive::learn(const EpochMeasured& measured) {
  const bool says_something = measured.allocated_bytes >= kLeastBytes && measured.program_cpu_seconds > 0;
  if (measured.strategy == ZeroingStrategy::concurrent && says_something && measured.helper_cpu_seconds > 0) {
    helper_bytes_per_second_ = static_cast<double>(measured.zeroed_bytes) / measured.helper_cpu_seconds;
  }
  // Before the first collection memory is zero anyway (mmap(2)), whatever the strategy.
  if (measured.strategy == ZeroingStrategy::concurrent || !says_something || measured.collection == 0) {
    incumbent_cost_.reset();
    steady_ = false;
    trial_.reset();
    return;
  }
  const double cost = measured.program_cpu_seconds / static_cast<double>(measured.allocated_bytes);
  if (measured.strategy != incumbent_) {
    trial_ = {.strategy = measured.strategy, .cost = cost};
    steady_ = false;
    return;
  }
  const std::optional<double> before = std::exchange(incumbent_cost_, cost);
  const std::optional<Trial> trial = std::exchange(trial_, std::nullopt);
  steady_ = before && !trial && close(*before, cost, kSteady);
  if (before && trial && close(*before, cost, kStillSteady)) {
    judge(*std::ranges::find(challengers_, trial->strategy, &Challenger::strategy),
          std::log(trial->cost / std::sqrt(*before * cost)), measured.collection);
  }
}

void Adaptive::judge(Challenger& challenger, double log_ratio, std::uint64_t collection) {
  challenger.trials.push_back(log_ratio);
  if (challenger.trials.size() > kSamples) {
    challenger.trials.pop_front();
  }
  const bool enough = challenger.trials.size() >= kEnough;
  const Estimate so_far = enough ? estimate(challenger.trials) : Estimate{};
  if (enough && so_far.mean + (2 * so_far.standard_error) < std::log(kBetter)) {
    std::swap(incumbent_, challenger.strategy);
    challenger.not_before = collection + kTryAgainEvery;
    for (Challenger& other : challengers_) {
      other.trials.clear();  // they were against the former incumbent
    }
    incumbent_cost_.reset();
  } else if (log_ratio > std::log(kHopeless) || (enough && so_far.mean > std::log(kPromising))) {
    challenger.not_before = collection + kTryAgainEvery;
    // The next judgement is about the program as it is then.
    while (challenger.trials.size() >= kEnough) {
      challenger.trials.pop_front();
    }
  }
}

const Adaptive::Challenger* Adaptive::next_challenger(std::uint64_t collection) const {
  const Challenger* next = nullptr;
  for (const Challenger& challenger : challengers_) {
    const bool due = challenger.not_before <= collection;
    if (due && (next == nullptr || challenger.trials.size() < next->trials.size())) {
      next = &challenger;
    }
  }
  return next;
}

bool Adaptive::helper_pays(const EpochMeasured& measured, double running, CpusNow cpus,
                           std::string& why) const {
  if (!concurrent_) {
    return false;
  }
  if (cpus.usable - running < kIdleCpusNeeded) {
    why = "no CPU is idle";
    return false;
  }
  if (cpus.idle < kIdleCpusNeeded) {
    why = "other programs leave no CPU idle";
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
  Decision decision{.collection = collection, .strategy = incumbent_, .reason = {}};
  if (!steady_) {
    decision.reason = trial_ ? "to compare a trial with" : "in use, and its cost is not steady";
    return decision;
  }
  if (const Challenger* const challenger = next_challenger(collection)) {
    decision.strategy = challenger->strategy;
    decision.reason = "a trial";
  } else {
    decision.reason = "the least CPU time per allocated byte so far";
  }
  return decision;
}

Adaptive::Decision Adaptive::decide(const EpochMeasured& measured, CpusNow cpus) {
  learn(measured);
  const double wall = std::max(measured.wall_seconds, 1e-9);
  const double running = measured.process_cpu_seconds / wall;
  const double zeroing = measured.zeroing_seconds + measured.helper_cpu_seconds;
  const std::uint64_t collection = measured.collection + 1;
  // What the helper used is idle without it.
  cpus.idle += measured.helper_cpu_seconds / wall;
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
  decision.cpus = cpus.usable;
  decision.idle_cpus = cpus.idle;
  decision.gigabytes_per_second =
      zeroing > 0 ? static_cast<double>(measured.zeroed_bytes) / zeroing / kGiga : 0.0;
  return decision;
}

}  // namespace memgraft::hotspot
