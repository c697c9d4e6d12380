// Which units sample memory accesses on this machine, by sysfs (Documentation/ABI/testing/
// sysfs-bus-event_source-devices-*), and what they have to be asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "memgraft/linux/perf_events.h"
#include "memgraft/observation/monitor.h"
#include "process_events.h"

namespace memgraft::observation {

struct MemorySampling {
  enum class Unit : std::uint8_t { pebs, ibs, spe };

  Unit unit = Unit::pebs;
  std::vector<WatchedEvent> events;
  std::string device;  // as sysfs calls it
  linux_os::PerfScope scope = linux_os::PerfScope::user;
};

// The first unit that is there, or where it was looked for and what is wrong with it.
std::variant<MemorySampling, Refusal> find_memory_sampling(const std::string& root);

}  // namespace memgraft::observation
