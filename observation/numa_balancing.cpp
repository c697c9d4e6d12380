#include "memgraft/observation/numa_balancing.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>
#include <system_error>
#include <utility>

#include "small_file.h"

namespace memgraft::observation {

namespace {

constexpr const char* kSetting = "/proc/sys/kernel/numa_balancing";
constexpr const char* kMissing =
    "this kernel has no NUMA balancing: /proc/sys/kernel/numa_balancing is not there (CONFIG_NUMA_BALANCING)";
// Documentation/admin-guide/sysctl/kernel.rst; the other bit, 2, is for memory tiers and looks at slow memory
// only.
constexpr unsigned kNormal = 1;
constexpr unsigned kHighest = 9;  // one digit

std::optional<unsigned> setting_of(const std::string& root) {
  const auto value = linux_os::to_number(linux_os::read_line(root + kSetting).value_or(""));
  return value && *value <= kHighest ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
}

std::array<char, 2> as_line(unsigned value) { return {static_cast<char>('0' + value), '\n'}; }

bool write_value(int file, std::array<char, 2> value) {
  return pwrite(file, value.data(), value.size(), 0) == static_cast<ssize_t>(value.size());
}

struct Pipe {
  linux_os::OwnedFd read;
  linux_os::OwnedFd write;
};

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::nullopt;
  }
  return Pipe{.read = linux_os::OwnedFd(ends[0]), .write = linux_os::OwnedFd(ends[1])};
}

// Only these stay open, as 0, 1 and 2: not the caller's output, not the other end of the pipe that is waited
// for.
void keep_only(std::array<int, 3> kept) {
  constexpr int kFirstOther = 3;
  for (int& fd : kept) {
    fd = fcntl(fd, F_DUPFD, kFirstOther);
  }
  for (int fd = 0; fd < kFirstOther; ++fd) {
    dup2(kept[static_cast<std::size_t>(fd)], fd);
  }
  if (syscall(SYS_close_range, kFirstOther, ~0U, 0U) != 0) {  // Linux 5.9
    for (int fd = kFirstOther; fd < static_cast<int>(sysconf(_SC_OPEN_MAX)); ++fd) {
      close(fd);
    }
  }
}

// Runs in the forked child of a program that may have threads: system calls only, as other threads may hold
// locks.
[[noreturn]] void guard(std::array<int, 3> descriptors, std::array<char, 2> set, std::array<char, 2> old) {
  setsid();  // Ctrl-C is for the terminal's group.
  prctl(PR_SET_NAME, "memgraft-guard");
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  keep_only(descriptors);
  constexpr int kFile = 0;
  constexpr int kAlive = 1;
  constexpr int kReady = 2;
  char byte = 1;
  if (write(kReady, &byte, 1) == 1) {
    // Nobody writes into it: this ends with the last process that could.
    while (read(kAlive, &byte, 1) < 0 && errno == EINTR) {
    }
  }
  std::array<char, 1> now{};
  // Whoever else holds it restores the value later. Linux gives the shared lock up before it asks for
  // this one: of several that end at once, the last gets it.
  if (flock(kFile, LOCK_EX | LOCK_NB) == 0 && pread(kFile, now.data(), now.size(), 0) == 1 &&
      now[0] == set[0]) {
    write_value(kFile, old);
  }
  _exit(0);
}

// Whether another guardian has the setting in its care: then it was turned on for a while only.
bool is_guarded(int file) {
  constexpr int kTries = 5;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 10'000'000};
  for (int tries = 0; tries < kTries; ++tries) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0) {
      (void)flock(file, LOCK_UN);
      return false;
    }
    (void)nanosleep(&kPause, nullptr);  // it may be somebody who asks the same
  }
  return true;
}

std::string with_error(std::string what) {
  return std::move(what) + ": " + std::generic_category().message(errno);
}

Refusal not_writable() {
  return {with_error("kernel.numa_balancing cannot be turned on") +
          ": needs root: `sysctl kernel.numa_balancing=1`"};
}

}  // namespace

std::optional<std::string> why_no_hint_faults(const std::string& root) {
  const std::optional<unsigned> value = setting_of(root);
  if (!value) {
    return kMissing;
  }
  if ((*value & kNormal) != 0) {
    return std::nullopt;
  }
  return "kernel.numa_balancing is " + std::to_string(*value) +
         ", expected 1, as only first touches would be seen: `--numa-balancing`, or `sysctl "
         "kernel.numa_balancing=1`";
}

std::variant<std::unique_ptr<NumaBalancing>, Refusal> NumaBalancing::turn_on(const std::string& root) {
  const std::optional<unsigned> old = setting_of(root);
  if (!old) {
    return Refusal{kMissing};
  }
  std::unique_ptr<NumaBalancing> balancing(new NumaBalancing);
  const linux_os::OwnedFd file(open((root + kSetting).c_str(), O_RDWR | O_CLOEXEC));
  const bool is_on = (*old & kNormal) != 0;
  if (is_on && (file.get() < 0 || !is_guarded(file.get()))) {
    return balancing;
  }
  if (file.get() < 0) {
    return not_writable();
  }
  std::optional<Pipe> alive = make_pipe();
  std::optional<Pipe> ready = make_pipe();
  if (!alive || !ready) {
    return Refusal{with_error("no pipe for what restores kernel.numa_balancing")};
  }
  const std::array<char, 2> set = as_line(*old | kNormal);
  // Kept by the guardian, who inherits it.
  (void)flock(file.get(), LOCK_SH);
  balancing->guardian_ = fork();
  if (balancing->guardian_ == 0) {
    guard({file.get(), alive->read.get(), ready->write.get()}, set, as_line(*old & ~kNormal));
  }
  if (balancing->guardian_ < 0) {
    return Refusal{with_error("no process for what restores kernel.numa_balancing")};
  }
  balancing->alive_ = std::move(alive->write);
  ready->write = linux_os::OwnedFd();
  // Out of reach of the terminal's signals before anything changes.
  char byte = 0;
  if (read(ready->read.get(), &byte, 1) != 1) {
    return Refusal{"the process that restores kernel.numa_balancing ended at once: nothing was changed"};
  }
  if (!write_value(file.get(), set)) {
    return not_writable();
  }
  return balancing;
}

NumaBalancing::~NumaBalancing() {
  alive_ = linux_os::OwnedFd();
  if (guardian_ > 0) {
    // Gone already where someone waits for every child.
    while (waitpid(guardian_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

}  // namespace memgraft::observation
