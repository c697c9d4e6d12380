#include "memgraft/linux/cpus.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <optional>
#include <utility>

#include "affinity.h"
#include "small_file.h"

namespace memgraft::linux_os {

namespace {

unsigned allowed_cpus() noexcept {
  if (const std::optional<Affinity> affinity = affinity_of_process()) {
    return affinity->count();
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<unsigned>(online) : 1;
}

// quota / period in CPUs; a quota of `max`, or of version 1's -1, is no number and so no limit.
double share(std::string_view quota, std::string_view period) noexcept {
  const std::optional<std::uint64_t> quota_us = to_number(quota);
  const std::optional<std::uint64_t> period_us = to_number(period);
  if (!quota_us || !period_us || *quota_us == 0 || *period_us == 0) {
    return Cpus::kNoQuota;
  }
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

double quota_of(const QuotaFiles& files) noexcept {
  constexpr std::size_t kTwoNumbers = 64;
  std::array<char, kTwoNumbers> quota_buffer{};
  std::array<char, kTwoNumbers> period_buffer{};
  std::string_view quota = read_small_file(AT_FDCWD, files.quota.c_str(), quota_buffer).value_or("");
  if (quota.empty()) {
    return Cpus::kNoQuota;
  }
  std::string_view first = cut_field(quota, '\n');
  if (!files.period.empty()) {
    std::string_view period = read_small_file(AT_FDCWD, files.period.c_str(), period_buffer).value_or("");
    return share(first, cut_field(period, '\n'));
  }
  const std::string_view number = cut_field(first, ' ');
  return share(number, first);
}

}  // namespace

CpuLimits::CpuLimits(std::string root) : root_(std::move(root)), groups_file_(root_ + "/proc/self/cgroup") {
  follow_groups();
}

void CpuLimits::follow_groups() {
  if (!read_file(groups_file_, read_now_) || read_now_ == groups_) {
    return;
  }
  std::string mounts;
  read_file(root_ + "/proc/self/mountinfo", mounts);
  files_ = quota_files(read_now_, mounts, root_);
  groups_ = read_now_;
}

Cpus CpuLimits::now() noexcept {
  try {
    follow_groups();
  } catch (const std::exception&) {
    // Out of memory: the groups known so far stay, and the next call tries again.
    read_now_.clear();
  }
  Cpus cpus{.allowed = allowed_cpus(), .quota = Cpus::kNoQuota};
  for (const QuotaFiles& files : files_) {
    cpus.quota = std::min(cpus.quota, quota_of(files));
  }
  return cpus;
}

}  // namespace memgraft::linux_os
