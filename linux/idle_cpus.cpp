#include "memgraft/linux/idle_cpus.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include "affinity.h"
#include "proc_stat.h"
#include "small_file.h"

namespace memgraft::linux_os {

std::optional<double> idle_seconds(std::string_view text, const Affinity& wanted) noexcept {
  constexpr std::string_view kCpu = "cpu";
  constexpr int kBeforeIdle = 3;  // user, nice, system; then idle and iowait
  std::uint64_t ticks = 0;
  unsigned found = 0;
  // CPUs come first in the file.
  while (text.starts_with(kCpu)) {
    std::string_view line = cut_field(text, '\n');
    const std::optional<std::uint64_t> cpu = to_number(cut_field(line, ' ').substr(kCpu.size()));
    if (!cpu || !wanted.has(static_cast<unsigned>(*cpu))) {
      continue;  // The first line is all CPUs together, and has no number.
    }
    for (int field = 0; field < kBeforeIdle; ++field) {
      cut_field(line, ' ');
    }
    const std::optional<std::uint64_t> idle = to_number(cut_field(line, ' '));
    const std::optional<std::uint64_t> waiting = to_number(cut_field(line, ' '));
    if (!idle || !waiting) {
      return std::nullopt;
    }
    ticks += *idle + *waiting;
    ++found;
  }
  if (found == 0 || found != wanted.count()) {
    return std::nullopt;
  }
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

IdleCpus::IdleCpus(std::string root) : file_(std::move(root) + "/proc/stat") {}

std::optional<double> IdleCpus::read() {
  const std::optional<Affinity> affinity = affinity_of_process();
  if (!affinity || !read_file(file_, content_)) {
    return std::nullopt;
  }
  return idle_seconds(content_, *affinity);
}

std::optional<double> IdleCpus::now(Nanoseconds time) noexcept {
  if (last_ && time - last_->time < kWindow) {
    return mean_;
  }
  std::optional<double> idle;
  try {
    idle = read();
  } catch (const std::exception&) {
    // Out of memory: the mean so far stays, and the next call tries again.
    return mean_;
  }
  if (!idle) {
    mean_.reset();
  } else if (!last_) {
    mean_ = 0;
  } else {
    // A CPU that has come or gone, or been forbidden, makes no sense for one stretch. Nor is idle time
    // counted as exactly as the clock's.
    mean_ = std::max(0.0, (*idle - last_->idle_seconds) / to_seconds(time - last_->time));
  }
  last_ = Reading{.time = time, .idle_seconds = idle.value_or(0)};
  return mean_;
}

}  // namespace memgraft::linux_os
