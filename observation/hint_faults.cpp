#include "memgraft/observation/hint_faults.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "cpu_list.h"
#include "memgraft/observation/numa_balancing.h"
#include "process_events.h"
#include "sample_limit.h"

namespace memgraft::observation {

namespace {

class HintFaults : public Monitor {
 public:
  HintFaults(std::unique_ptr<ProcessEvents> events, double most_per_second)
      : events_(std::move(events)), limit_(most_per_second) {}

  [[nodiscard]] const Sees& sees() const override { return sees_; }
  void drain(const Sink& sink) override {
    std::uint64_t samples = 0;
    const std::uint64_t lost_before = lost();
    events_->samples([&](const linux_os::PerfSample& sample) {
      ++samples;
      Touch touch;
      touch.address = sample.address;
      touch.nanoseconds = sample.time;
      touch.thread = sample.thread;
      touch.cpu = sample.cpu;
      sink(touch);
    });
    keep_to_the_limit(samples + lost() - lost_before);
  }
  [[nodiscard]] std::uint64_t lost() const override { return events_->lost(); }
  [[nodiscard]] std::string hindrance() const override {
    constexpr double kHundred = 100;
    const double percent = std::round(kHundred * limit_.watched_share());
    return percent >= kHundred ? std::string()
                               : "too many page faults to read them all: it watched " +
                                     std::to_string(static_cast<int>(percent)) + " % of the time";
  }

 private:
  using Clock = std::chrono::steady_clock;

  void keep_to_the_limit(std::uint64_t samples) {
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double> since = now - last_drain_;
    last_drain_ = now;
    const bool watches = limit_.watches_after(static_cast<double>(samples), since.count());
    if (watches != watches_) {
      events_->enable(watches);
      watches_ = watches;
    }
  }

  Sees sees_{
      .name = "hint-faults",
      .what =
          "page faults in user mode: NUMA hint faults, at most one per page and scan of the kernel, and "
          "first touches",
      .thread = true,
      .cpu = true};
  std::unique_ptr<ProcessEvents> events_;
  SampleLimit limit_;
  bool watches_ = true;
  Clock::time_point last_drain_ = Clock::now();
};

}  // namespace

std::variant<std::unique_ptr<Monitor>, Refusal> watch_hint_faults(pid_t pid, linux_os::PerfEvents& perf,
                                                                  const std::string& root,
                                                                  double most_per_cpu) {
  const std::optional<std::string> blind = why_no_hint_faults(root);
  if (blind) {
    return Refusal{"hint-faults: " + *blind};
  }
  WatchedEvent faults;
  faults.attributes = ProcessEvents::attributes();
  faults.attributes.type = PERF_TYPE_SOFTWARE;
  faults.attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
  faults.attributes.sample_period = 1;
  auto opened = ProcessEvents::open(pid, std::span(&faults, 1), perf, root, linux_os::PerfScope::user);
  if (Refusal* const refusal = std::get_if<Refusal>(&opened)) {
    return Refusal{"hint-faults: " + std::move(refusal->why)};
  }
  return std::make_unique<HintFaults>(std::get<std::unique_ptr<ProcessEvents>>(std::move(opened)),
                                      most_per_cpu * static_cast<double>(online_cpus(root).size()));
}

}  // namespace memgraft::observation
