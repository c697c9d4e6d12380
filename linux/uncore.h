// The counters of the memory controllers, as sysfs describes them (Documentation/ABI/testing/
// sysfs-bus-event_source-devices-events and -format).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memgraft::linux_os {

// One counter of one memory controller: what perf_event_open wants to know, and what a count is worth.
struct UncoreEvent {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  int cpu = 0;  // one CPU of the socket that the controller belongs to
  double bytes_per_count = 0;

  friend bool operator==(const UncoreEvent&, const UncoreEvent&) = default;
};

struct MemoryTraffic {
  std::vector<UncoreEvent> read;
  std::vector<UncoreEvent> written;
};

// Every uncore_imc* of this machine (Intel's: none elsewhere, and none in most virtual machines). One that
// cannot be understood leaves both lists empty, because a sum without it would be too small.
MemoryTraffic find_memory_traffic(const std::string& root);

// perf_event_attr.config, config1 and config2.
using PmuConfig = std::array<std::uint64_t, 3>;

// Adds the bits for `terms` (event=0x04,umask=0x03), by the files of `format_folder`. False when a term has
// no format.
bool encode_terms(std::string_view terms, const std::string& format_folder, PmuConfig& config);
// The same where all is in config; false where it is not.
bool encode_terms(std::string_view terms, const std::string& format_folder, std::uint64_t& config);

}  // namespace memgraft::linux_os
