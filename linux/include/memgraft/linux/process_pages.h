// Where the pages of a process lie, and moving them while it runs: move_pages(2), without libnuma.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace memgraft::linux_os {

// Of another process: needs its user, and what ptrace(2) needs of Yama (PTRACE_MODE_READ_REALCREDS), or
// CAP_SYS_NICE. The system calls are virtual, so that tests can be a machine with nodes.
class ProcessPages {
 public:
  // What no kernel answers: it did not come to that page.
  static constexpr int kNoAnswer = -4096;

  ProcessPages() = default;
  virtual ~ProcessPages() = default;
  ProcessPages(const ProcessPages&) = delete;
  ProcessPages& operator=(const ProcessPages&) = delete;
  ProcessPages(ProcessPages&&) = delete;
  ProcessPages& operator=(ProcessPages&&) = delete;

  // Fills `answers` (as many as addresses): Linux's number of the node of each page, or -errno: ENOENT
  // not present, also where a hint fault is pending (PROT_NONE page table entries: kernels up to at least
  // 6.1), EFAULT no page or the page of zeroes. 0 or errno.
  virtual int nodes(pid_t process, std::span<const std::uint64_t> addresses, std::span<int> answers) noexcept;

  // Moves the pages to one node, those that no other process has mapped too (MPOL_MF_MOVE). Answers as
  // above, further EBUSY, EACCES (mapped by others too), ENOMEM; kNoAnswer for the pages at and after a group
  // of which one could not be moved: since Linux 4.17 the call ends there. 0, errno, or, for that end, -1.
  virtual int move(pid_t process, std::span<const std::uint64_t> addresses, int node, std::span<int> answers);

  // Those of Linux.
  static ProcessPages& real();
};

}  // namespace memgraft::linux_os
