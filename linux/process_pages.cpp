#include "memgraft/linux/process_pages.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace memgraft::linux_os {

int ProcessPages::nodes(pid_t process, std::span<const std::uint64_t> addresses,
                        std::span<int> answers) noexcept {
  static_assert(sizeof(std::uint64_t) == sizeof(void*), "addresses are given as they are");
  if (addresses.empty()) {
    return 0;
  }
  std::ranges::fill(answers, kNoAnswer);
  const long done =
      syscall(SYS_move_pages, process, addresses.size(), addresses.data(), nullptr, answers.data(), 0);
  return done < 0 ? errno : 0;
}

int ProcessPages::move(pid_t process, std::span<const std::uint64_t> addresses, int node,
                       std::span<int> answers) {
  if (addresses.empty()) {
    return 0;
  }
  std::ranges::fill(answers, kNoAnswer);
  const std::vector<int> targets(addresses.size(), node);
  const long done = syscall(SYS_move_pages, process, addresses.size(), addresses.data(), targets.data(),
                            answers.data(), MPOL_MF_MOVE);
  if (done < 0) {
    return errno;
  }
  return done > 0 ? -1 : 0;
}

ProcessPages& ProcessPages::real() {
  static ProcessPages pages;
  return pages;
}

}  // namespace memgraft::linux_os
