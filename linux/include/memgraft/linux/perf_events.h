// perf_event_open(2): the system call, and in words why it was refused.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace memgraft::linux_os {

// What read(2) gives for one event with PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING, in that order.
struct PerfReading {
  std::uint64_t count = 0;
  std::uint64_t enabled_nanoseconds = 0;  // since it was opened
  std::uint64_t running_nanoseconds = 0;  // of these, on a counter of the CPU
};

// The system calls, so that tests can be a machine with counters.
class PerfEvents {
 public:
  PerfEvents() = default;
  virtual ~PerfEvents() = default;
  PerfEvents(const PerfEvents&) = delete;
  PerfEvents& operator=(const PerfEvents&) = delete;
  PerfEvents(PerfEvents&&) = delete;
  PerfEvents& operator=(PerfEvents&&) = delete;

  // A descriptor that closes on exec, or -errno. `pid` and `cpu` as in the manual page: 0 and -1 are this
  // process wherever it runs, -1 and a number all processes on that CPU.
  virtual int open(const perf_event_attr& attributes, pid_t pid, int cpu) noexcept;
  virtual std::optional<PerfReading> read(int fd) noexcept;

  // The same as open(), in the group of `leader`.
  virtual int join(int leader, const perf_event_attr& attributes, pid_t pid, int cpu) noexcept;
  // The event's records go into the ring that is mapped of `ring`. 0 or -errno.
  virtual int redirect(int fd, int ring) noexcept;
  // Whether it counts, and what inherited it too.
  virtual void enable(int fd, bool counts) noexcept;
  // The number by which PERF_SAMPLE_IDENTIFIER names it.
  virtual std::optional<std::uint64_t> identifier(int fd) noexcept;
  // mmap(2) for reading and writing, MAP_FAILED and errno; munmap(2).
  virtual void* map(int fd, std::size_t bytes, off_t offset) noexcept;
  virtual void unmap(void* memory, std::size_t bytes) noexcept;

  // Those of the kernel.
  static PerfEvents& real();
};

// The highest /proc/sys/kernel/perf_event_paranoid under which an unprivileged process may count so much
// (Documentation/admin-guide/sysctl/kernel.rst).
enum class PerfScope : std::uint8_t {
  whole_machine = 0,
  user_and_kernel = 1,
  user = 2,
};

// Why an event of that scope could not be opened, and what to do about it; one line. `root` as in CpuLimits.
std::string why_not_counted(int error, PerfScope scope, const std::string& root);

}  // namespace memgraft::linux_os
