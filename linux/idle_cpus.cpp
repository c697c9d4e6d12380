#include "memgraft/linux/idle_cpus.h"

#include <unistd.h>

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

std::optional<IdleCpus::Reading> IdleCpus::read(Nanoseconds time) {
  const std::optional<Affinity> affinity = affinity_of_process();
  if (!affinity || !read_file(file_, content_)) {
    return std::nullopt;
  }
  const std::optional<double> idle = idle_seconds(content_, *affinity);
  if (!idle) {
    return std::nullopt;
  }
  return Reading{.time = time, .idle_seconds = *idle, .cpus = affinity->count()};
}

double IdleCpus::mean_between(const Reading& before, const Reading& after) {
  // A hundredth of a second more or less of each CPU.
  constexpr double kMostOfACpu = 1.1;
  const double mean = (after.idle_seconds - before.idle_seconds) / to_seconds(after.time - before.time);
  // Where the process has got other CPUs meanwhile, the two readings are not of the same ones.
  return mean >= 0 && mean <= kMostOfACpu * after.cpus ? mean : 0;
}

std::optional<double> IdleCpus::now(Nanoseconds time) noexcept {
  if (last_ && time - last_->time < kWindow) {
    return mean_;
  }
  std::optional<Reading> now;
  try {
    now = read(time);
  } catch (const std::exception&) {
    // Out of memory: the mean so far stays, and the next call tries again.
    return mean_;
  }
  if (!now) {
    mean_.reset();
    last_.reset();
    return mean_;
  }
  mean_ = last_ ? mean_between(*last_, *now) : 0;
  last_ = now;
  return mean_;
}

}  // namespace memgraft::linux_os
