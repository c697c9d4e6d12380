#include "uncore.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>

#include "small_file.h"

namespace memgraft::linux_os {

namespace {

// As arch/x86/events/intel/uncore_snb.c and uncore_snbep.c name them: client CPUs before and from Tiger Lake
// on, servers, and Granite Rapids, which counts each half of a channel by itself. Servers' `read` and `write`
// of the free-running counters are left out: they would count the same bytes again.
constexpr std::array<std::string_view, 5> kRead = {"data_reads", "data_read", "cas_count_read",
                                                   "cas_count_read_sch0", "cas_count_read_sch1"};
constexpr std::array<std::string_view, 5> kWritten = {"data_writes", "data_write", "cas_count_write",
                                                      "cas_count_write_sch0", "cas_count_write_sch1"};
constexpr double kBytesPerMiB = 1024.0 * 1024.0;
constexpr unsigned kConfigBits = 64;

struct BitRange {
  unsigned low = 0;
  unsigned high = 0;
};

// 3 or 0-7.
std::optional<BitRange> to_range(std::string_view text) {
  const std::string_view low = cut_field(text, '-');
  const std::optional<std::uint64_t> first = to_number(low);
  const std::optional<std::uint64_t> last = text.empty() ? first : to_number(text);
  constexpr std::uint64_t kHighest = 1U << 16U;  // of bits and of CPUs
  if (!first || !last || *last < *first || *last > kHighest) {
    return std::nullopt;
  }
  return BitRange{.low = static_cast<unsigned>(*first), .high = static_cast<unsigned>(*last)};
}

// Puts the value's bits where a format such as config:0-7,21 says, lowest first.
bool place(std::uint64_t value, std::string_view format, PmuConfig& configs) {
  constexpr std::array<std::string_view, 3> kNames = {"config", "config1", "config2"};
  const auto* const name = std::ranges::find(kNames, cut_field(format, ':'));
  if (name == kNames.end() || format.empty()) {
    return false;
  }
  std::uint64_t& config = configs.at(static_cast<std::size_t>(name - kNames.begin()));
  while (!format.empty()) {
    const std::optional<BitRange> range = to_range(cut_field(format, ','));
    if (!range || range->high >= kConfigBits) {
      return false;
    }
    for (unsigned bit = range->low; bit <= range->high; ++bit) {
      config |= (value & 1U) << bit;
      value >>= 1U;
    }
  }
  return value == 0;  // otherwise it does not fit
}

std::optional<double> bytes_per_count(const std::string& event) {
  const std::string scale = read_line(event + ".scale").value_or("");
  double count = 0;
  const std::span<const char> digits(scale);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (parsed.ec != std::errc{} || !(count > 0) || read_line(event + ".unit") != "MiB") {
    return std::nullopt;
  }
  return count * kBytesPerMiB;
}

// The CPUs of a cpumask: 0,18 or 0-1.
std::vector<int> cpus_of(std::string_view mask) {
  std::vector<int> cpus;
  while (!mask.empty()) {
    const std::optional<BitRange> range = to_range(cut_field(mask, ','));
    if (!range) {
      return {};
    }
    for (unsigned cpu = range->low; cpu <= range->high; ++cpu) {
      cpus.push_back(static_cast<int>(cpu));
    }
  }
  return cpus;
}

// Appends the controller's events of those names; false when one is there and cannot be understood.
bool add_events(const std::string& controller, std::span<const std::string_view> names,
                std::vector<UncoreEvent>& events) {
  const std::optional<std::uint64_t> type = to_number(read_line(controller + "/type").value_or(""));
  const std::vector<int> cpus = cpus_of(read_line(controller + "/cpumask").value_or(""));
  for (const std::string_view name : names) {
    const std::string file = controller + "/events/" + std::string(name);
    const std::optional<std::string> terms = read_line(file);
    if (!terms) {
      continue;
    }
    UncoreEvent event;
    const std::optional<double> bytes = bytes_per_count(file);
    if (!type || cpus.empty() || !bytes || !encode_terms(*terms, controller + "/format", event.config)) {
      return false;
    }
    event.type = static_cast<std::uint32_t>(*type);
    event.bytes_per_count = *bytes;
    for (const int cpu : cpus) {
      event.cpu = cpu;
      events.push_back(event);
    }
  }
  return true;
}

}  // namespace

bool encode_terms(std::string_view terms, const std::string& format_folder, std::uint64_t& config) {
  PmuConfig configs{config};
  const bool encoded = encode_terms(terms, format_folder, configs) && configs[1] == 0 && configs[2] == 0;
  config = configs[0];
  return encoded;
}

bool encode_terms(std::string_view terms, const std::string& format_folder, PmuConfig& config) {
  while (!terms.empty()) {
    std::string_view value = cut_field(terms, ',');
    const std::string file = std::string(format_folder).append("/").append(cut_field(value, '='));
    // A term without a value is a flag.
    const std::optional<std::uint64_t> number = value.empty() ? 1 : to_number(value);
    if (!number || !place(*number, read_line(file).value_or(""), config)) {
      return false;
    }
  }
  return true;
}

MemoryTraffic find_memory_traffic(const std::string& root) {
  MemoryTraffic traffic;
  std::error_code none;
  std::vector<std::string> controllers;
  for (std::filesystem::directory_iterator entry(root + "/sys/bus/event_source/devices", none), end;
       !none && entry != end; entry.increment(none)) {
    if (entry->path().filename().string().starts_with("uncore_imc")) {
      controllers.push_back(entry->path().string());
    }
  }
  std::ranges::sort(controllers);
  for (const std::string& controller : controllers) {
    if (!add_events(controller, kRead, traffic.read) || !add_events(controller, kWritten, traffic.written)) {
      return {};
    }
  }
  return traffic;
}

}  // namespace memgraft::linux_os
