#include "memgraft/observation/pmu.h"

#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "ibs_sample.h"
#include "pmu_devices.h"
#include "process_events.h"
#include "spe_packets.h"

namespace memgraft::observation {

namespace {

using linux_os::PerfSample;
using Unit = MemorySampling::Unit;

Sees sees_of(Unit unit) {
  Sees sees{.name = "pmu", .what = "", .thread = true, .cpu = true, .store = true, .latency = true};
  switch (unit) {
    case Unit::pebs:
      sees.what = "a sample of the loads that take " + std::to_string(kLoadLatency) +
                  " cycles or more, and of all stores (Intel's PEBS); loads' latency";
      break;
    case Unit::ibs:
      sees.what = "the loads and stores among sampled operations (AMD's IBS); latency of loads that missed";
      break;
    case Unit::spe:
      sees.what = "a sample of loads and stores (Arm's SPE), with their latency; times to some milliseconds";
      break;
  }
  return sees;
}

Touch touch_of(const PerfSample& sample) {
  Touch touch;
  touch.address = sample.address;
  touch.nanoseconds = sample.time;
  touch.thread = sample.thread;
  touch.cpu = sample.cpu;
  touch.stands_for = sample.period;
  return touch;
}

std::optional<Touch> pebs_touch(const PerfSample& sample) {
  if (sample.address == 0 || (sample.address >> 63U) != 0) {
    return std::nullopt;  // Some stores have no address; and the kernel's.
  }
  Touch touch = touch_of(sample);
  constexpr std::uint64_t kOperation = 0x1f;  // perf_mem_data_src.mem_op
  const std::uint64_t operation = sample.data_source & kOperation;
  if ((operation & (PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE)) != 0) {
    touch.store = (operation & PERF_MEM_OP_STORE) != 0;
  }
  if (sample.weight != 0) {
    touch.latency_cycles = static_cast<std::uint32_t>(sample.weight);
  }
  return touch;
}

std::optional<Touch> ibs_touch(const PerfSample& sample) {
  const std::optional<IbsAccess> access = ibs_access(sample.raw);
  if (!access) {
    return std::nullopt;
  }
  Touch touch = touch_of(sample);
  touch.address = access->address;
  touch.store = access->store;
  touch.latency_cycles = access->latency_cycles;
  return touch;
}

class MemorySamples : public Monitor {
 public:
  MemorySamples(Unit unit, std::uint64_t period, std::unique_ptr<ProcessEvents> events)
      : unit_(unit), period_(period), sees_(sees_of(unit)), events_(std::move(events)) {}

  [[nodiscard]] const Sees& sees() const override { return sees_; }
  void drain(const Sink& sink) override {
    if (unit_ == Unit::spe) {
      drain_spe(sink);
      return;
    }
    events_->samples([&](const PerfSample& sample) {
      const std::optional<Touch> touch = unit_ == Unit::ibs ? ibs_touch(sample) : pebs_touch(sample);
      if (touch) {
        sink(*touch);
      }
    });
  }
  [[nodiscard]] std::uint64_t lost() const override { return events_->lost(); }

 private:
  void drain_spe(const Sink& sink) {
    events_->aux([&](const linux_os::PerfSampleId& id, linux_os::Bytes8 bytes) {
      spe_accesses(bytes, [&](const SpeAccess& access) {
        Touch touch;
        touch.address = access.address;
        // Of the record that told of these bytes: SPE's own times are those of another clock.
        touch.nanoseconds = id.time;
        touch.thread = id.thread;
        touch.cpu = id.cpu;
        touch.store = access.store;
        touch.latency_cycles = access.latency_cycles;
        touch.stands_for = period_;
        sink(touch);
      });
    });
  }

  Unit unit_;
  std::uint64_t period_;
  Sees sees_;
  std::unique_ptr<ProcessEvents> events_;
};

}  // namespace

std::variant<std::unique_ptr<Monitor>, Refusal> watch_memory_samples(pid_t pid, linux_os::PerfEvents& perf,
                                                                     const std::string& root) {
  auto found = find_memory_sampling(root);
  if (Refusal* const refusal = std::get_if<Refusal>(&found)) {
    return Refusal{"pmu: " + std::move(refusal->why)};
  }
  const MemorySampling& sampling = std::get<MemorySampling>(found);
  auto opened = ProcessEvents::open(pid, sampling.events, perf, root, sampling.scope);
  if (Refusal* const refusal = std::get_if<Refusal>(&opened)) {
    return Refusal{
        "pmu: " + sampling.device + ": " + std::move(refusal->why) +
        (sampling.unit == Unit::ibs ? " (Linux before 6.2 samples with IBS for whole CPUs only)" : "")};
  }
  return std::make_unique<MemorySamples>(sampling.unit, sampling.events.front().attributes.sample_period,
                                         std::get<std::unique_ptr<ProcessEvents>>(std::move(opened)));
}

}  // namespace memgraft::observation
