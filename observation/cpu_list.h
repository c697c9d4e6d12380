// Lists of CPUs as sysfs writes them: 0-3,8.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "small_file.h"

namespace memgraft::observation {

// Empty where it makes no sense.
inline std::vector<int> to_cpus(std::string_view list) {
  constexpr std::uint64_t kMostCpus = 1U << 16U;
  std::vector<int> cpus;
  while (!list.empty()) {
    std::string_view range = linux_os::cut_field(list, ',');
    const auto first = linux_os::to_number(linux_os::cut_field(range, '-'));
    const auto last = range.empty() ? first : linux_os::to_number(range);
    if (!first || !last || *last >= kMostCpus) {
      return {};
    }
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) {
      cpus.push_back(static_cast<int>(cpu));
    }
  }
  return cpus;
}

// Those that run threads now; CPU 0 where the kernel does not tell.
inline std::vector<int> online_cpus(const std::string& root) {
  const std::vector<int> cpus =
      to_cpus(linux_os::read_line(root + "/sys/devices/system/cpu/online").value_or(""));
  return cpus.empty() ? std::vector<int>{0} : cpus;
}

}  // namespace memgraft::observation
