#include "memgraft/linux/perf_counters.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "uncore.h"

namespace memgraft::linux_os {

namespace {

constexpr std::uint64_t cache_event(std::uint64_t cache, std::uint64_t operation, std::uint64_t result) {
  return cache | (operation << 8U) | (result << 16U);  // perf_event_open(2), PERF_TYPE_HW_CACHE
}

// What becomes of an event where the kernel may not be counted.
enum class WithoutKernel : std::uint8_t {
  user_part,    // the part of user mode is counted
  unchanged,    // it does not ask for the mode
  meaningless,  // it happens in the kernel only: zero would be counted
};

struct ProcessEvent {
  std::string_view name;
  std::string_view unit;
  std::uint32_t type;
  std::uint64_t config;
  WithoutKernel without_kernel = WithoutKernel::user_part;
};

constexpr auto kProcessEvents = std::to_array<ProcessEvent>({
    {"cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache_references", "accesses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache_misses", "misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"last_level_load_misses", "misses", PERF_TYPE_HW_CACHE,
     cache_event(PERF_COUNT_HW_CACHE_LL, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    {"last_level_store_misses", "misses", PERF_TYPE_HW_CACHE,
     cache_event(PERF_COUNT_HW_CACHE_LL, PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    {"data_tlb_store_misses", "misses", PERF_TYPE_HW_CACHE,
     cache_event(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    {"cpu_time", "nanoseconds", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, WithoutKernel::unchanged},
    {"page_faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"context_switches", "switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
     WithoutKernel::meaningless},
});

perf_event_attr attributes_of(std::uint32_t type, std::uint64_t config) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return attributes;
}

bool forbidden(int error) { return error == EACCES || error == EPERM; }

struct Attempt {
  int fd = -1;  // or -errno
  std::string reason;
};

// Opens an event for this thread and those it starts, in the widest form that the kernel allows.
Attempt open_for_threads(PerfEvents& events, const ProcessEvent& event, const std::string& root) {
  perf_event_attr attributes = attributes_of(event.type, event.config);
  attributes.inherit = 1;
  attributes.inherit_thread = 1;
  attributes.exclude_hv = 1;
  const bool needs_kernel = event.without_kernel == WithoutKernel::meaningless;
  constexpr pid_t kThisProcess = 0;
  constexpr int kAnyCpu = -1;
  while (true) {
    const int fd = events.open(attributes, kThisProcess, kAnyCpu);
    if (fd >= 0) {
      const bool user_only =
          attributes.exclude_kernel != 0 && event.without_kernel == WithoutKernel::user_part;
      std::string reason = user_only ? "user mode only (perf_event_paranoid)" : "user and kernel mode";
      reason += attributes.inherit_thread != 0 ? "" : "; child processes are counted too (Linux before 5.13)";
      return {.fd = fd, .reason = std::move(reason)};
    }
    if (forbidden(-fd) && !needs_kernel && attributes.exclude_kernel == 0) {
      attributes.exclude_kernel = 1;
    } else if (-fd == EINVAL && attributes.inherit_thread != 0) {
      attributes.inherit_thread = 0;
    } else {
      const PerfScope scope = needs_kernel ? PerfScope::user_and_kernel : PerfScope::user;
      return {.fd = fd, .reason = why_not_counted(-fd, scope, root)};
    }
  }
}

double scaled(const PerfReading& reading) {
  const auto count = static_cast<double>(reading.count);
  return reading.running_nanoseconds >= reading.enabled_nanoseconds
             ? count
             : count * static_cast<double>(reading.enabled_nanoseconds) /
                   static_cast<double>(reading.running_nanoseconds);
}

double share(const PerfReading& reading) {
  return std::min(1.0, static_cast<double>(reading.running_nanoseconds) /
                           static_cast<double>(reading.enabled_nanoseconds));
}

}  // namespace

PerfCounters::PerfCounters(const std::string& root, PerfEvents& events) : events_(&events) {
  open_for_process(root);
  open_memory_traffic(root);
}

void PerfCounters::open_for_process(const std::string& root) {
  for (const ProcessEvent& event : kProcessEvents) {
    Attempt attempt = open_for_threads(*events_, event, root);
    Opened& opened = counters_.emplace_back();
    opened.counter.name = event.name;
    opened.counter.unit = event.unit;
    opened.counter.reason = std::move(attempt.reason);
    if (attempt.fd >= 0) {
      opened.parts.emplace_back().fd = OwnedFd(attempt.fd);
    }
  }
}

void PerfCounters::open_memory_traffic(const std::string& root) {
  const MemoryTraffic traffic = find_memory_traffic(root);
  const auto open = [&](std::string_view name, const std::vector<UncoreEvent>& controllers) {
    Opened& opened = counters_.emplace_back();
    opened.counter.name = name;
    opened.counter.unit = "bytes";
    opened.counter.reason = controllers.empty()
                                ? "no memory controller's counter (uncore_imc*, Intel's only) in "
                                  "/sys/bus/event_source/devices that can be understood"
                                : "the whole machine, all its processes";
    for (const UncoreEvent& event : controllers) {
      constexpr pid_t kAllProcesses = -1;
      const int fd = events_->open(attributes_of(event.type, event.config), kAllProcesses, event.cpu);
      if (fd < 0) {
        // Without one of them the sum would be too small.
        opened.parts.clear();
        opened.counter.reason = why_not_counted(-fd, PerfScope::whole_machine, root);
        return;
      }
      Part& part = opened.parts.emplace_back();
      part.fd = OwnedFd(fd);
      part.worth = event.bytes_per_count;
    }
  };
  open("memory_read", traffic.read);
  open("memory_written", traffic.written);
}

std::optional<PerfCounters::Value> PerfCounters::value(std::size_t place) const noexcept {
  const std::vector<Part>& parts = counters_[place].parts;
  if (parts.empty()) {
    return std::nullopt;
  }
  Value sum{.value = 0, .running_share = 1};
  for (const Part& part : parts) {
    const std::optional<PerfReading> reading = events_->read(part.fd.get());
    if (!reading || reading->running_nanoseconds == 0) {
      return std::nullopt;
    }
    sum.value += scaled(*reading) * part.worth;
    sum.running_share = std::min(sum.running_share, share(*reading));
  }
  return sum;
}

std::vector<Counter> PerfCounters::read() const {
  std::vector<Counter> list;
  list.reserve(counters_.size());
  for (std::size_t place = 0; place < counters_.size(); ++place) {
    const Opened& opened = counters_[place];
    Counter& counter = list.emplace_back(opened.counter);
    if (const std::optional<Value> now = value(place)) {
      counter.available = true;
      counter.value = now->value;
      counter.running_share = now->running_share;
    } else if (!opened.parts.empty()) {
      counter.reason =
          "it never got to run: other measurements hold the CPU's counters (or it cannot be read)";
    }
  }
  return list;
}

}  // namespace memgraft::linux_os
