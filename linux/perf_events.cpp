#include "memgraft/linux/perf_events.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "small_file.h"

namespace memgraft::linux_os {

namespace {

std::string why_not_permitted(PerfScope scope, const std::string& root) {
  const std::string needed = std::to_string(static_cast<int>(scope));
  const std::string setting = read_line(root + "/proc/sys/kernel/perf_event_paranoid").value_or("unknown");
  // Debian and Ubuntu have 3 and 4, which other kernels do not know; -1 allows everything.
  int paranoid = 0;
  const auto parsed = std::from_chars(setting.data(), setting.data() + setting.size(), paranoid);
  const std::string found = "not permitted: /proc/sys/kernel/perf_event_paranoid is " + setting;
  if (parsed.ec == std::errc{} && paranoid <= static_cast<int>(scope)) {
    return found + ", which allows it: a container's seccomp filter or a security module forbids it";
  }
  return found + ", expected " + needed + " or lower: `sysctl kernel.perf_event_paranoid=" + needed +
         "`, or run with CAP_PERFMON (a container's seccomp filter also forbids it)";
}

}  // namespace

int PerfEvents::open(const perf_event_attr& attributes, pid_t pid, int cpu) noexcept {
  constexpr int kNoGroup = -1;
  return PerfEvents::join(kNoGroup, attributes, pid, cpu);
}

int PerfEvents::join(int leader, const perf_event_attr& attributes, pid_t pid, int cpu) noexcept {
  // There is no wrapper in libc.
  const long fd = syscall(SYS_perf_event_open, &attributes, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);
  return fd < 0 ? -errno : static_cast<int>(fd);
}

int PerfEvents::redirect(int fd, int ring) noexcept {
  return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring) == 0 ? 0 : -errno;
}

void PerfEvents::enable(int fd, bool counts) noexcept {
  (void)ioctl(fd, counts ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

std::optional<std::uint64_t> PerfEvents::identifier(int fd) noexcept {
  std::uint64_t number = 0;
  return ioctl(fd, PERF_EVENT_IOC_ID, &number) == 0 ? std::optional(number) : std::nullopt;
}

void* PerfEvents::map(int fd, std::size_t bytes, off_t offset) noexcept {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
}

void PerfEvents::unmap(void* memory, std::size_t bytes) noexcept { munmap(memory, bytes); }

std::optional<PerfReading> PerfEvents::read(int fd) noexcept {
  PerfReading reading;
  static_assert(sizeof reading == 3 * sizeof(std::uint64_t));
  const ssize_t got = ::read(fd, &reading, sizeof reading);
  return std::cmp_equal(got, sizeof reading) ? std::optional(reading) : std::nullopt;
}

PerfEvents& PerfEvents::real() {
  static PerfEvents events;
  return events;
}

std::string why_not_counted(int error, PerfScope scope, const std::string& root) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "this CPU or hypervisor offers no such counter";
    case EACCES:
    case EPERM:
      return why_not_permitted(scope, root);
    case ENOSYS:
      return "this kernel has no perf events, or a seccomp filter hides them";
    case EMFILE:
      return "the process has no file descriptor left; raise `ulimit -n`";
    default:
      return "perf_event_open: " + std::generic_category().message(error);
  }
}

}  // namespace memgraft::linux_os
