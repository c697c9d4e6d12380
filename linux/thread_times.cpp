#include "memgraft/linux/thread_times.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <exception>

#include "memgraft/linux/owned_fd.h"
#include "small_file.h"

namespace memgraft::linux_os {

namespace {

std::optional<Nanoseconds> read_clock(clockid_t clock) noexcept {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return Nanoseconds((static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U) +
                     static_cast<std::uint64_t>(time.tv_nsec));
}

// The CPU clock of a thread of this process that is known by its number only. pthread_getcpuclockid makes the
// same identifier from a pthread_t (glibc, sysdeps/unix/sysv/linux/kernel-posix-cpu-timers.h): the number
// inverted, above three bits, of which 4 says "of a thread" and 2 "as the scheduler counts".
std::optional<Nanoseconds> thread_time(pid_t tid) noexcept {
  constexpr unsigned kThreadSchedulerClock = 4U | 2U;
  return read_clock(static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3U) | kThreadSchedulerClock));
}

}  // namespace

void ThreadWatch::look_at(int task_folder, std::string_view tid) {
  const std::optional<std::uint64_t> number = to_number(tid);
  if (!number) {
    return;  // . and ..
  }
  const std::optional<Nanoseconds> time = thread_time(static_cast<pid_t>(*number));
  if (!time || !ledger_.saw(static_cast<pid_t>(*number), *time)) {
    return;  // It has ended since it was listed, or its name is known.
  }
  constexpr std::string_view kName = "/comm";
  std::array<char, 32> path{};  // 10 digits, kName, and the zero at the end
  std::ranges::copy(kName, std::ranges::copy(tid, path.begin()).out);
  std::array<char, 32> buffer{};  // 15 bytes and a newline
  std::string_view name = read_small_file(task_folder, path.data(), buffer).value_or("");
  ledger_.named(classify_(cut_field(name, '\n')));
}

bool ThreadWatch::list_threads(int task_folder) {
  // getdents64(2) itself, because opendir(3) takes 32 KiB from the heap. Room for some 170 threads at a time.
  alignas(dirent64) std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t filled = getdents64(task_folder, buffer.data(), buffer.size());
    if (filled <= 0) {
      return filled == 0;
    }
    for (ssize_t at = 0; at < filled;) {
      // The kernel lays entries of various lengths one behind the other, each aligned for this type.
      const auto* const entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      look_at(task_folder, entry->d_name);
      at += entry->d_reclen;
    }
  }
}

std::optional<ThreadTimes> ThreadWatch::read() noexcept {
  const OwnedFd task_folder(::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (task_folder.get() < 0 || !thread_time(gettid())) {
    return std::nullopt;
  }
  try {
    ledger_.begin();
    if (!list_threads(task_folder.get())) {
      return std::nullopt;
    }
  } catch (const std::exception&) {
    return std::nullopt;  // More threads than ever, and no memory to follow them.
  }
  ledger_.end(thread_time);

  // Read last: what the other kinds ran meanwhile is then booked to the program, and nothing gets negative.
  const std::optional<Nanoseconds> process = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  if (!process) {
    return std::nullopt;
  }
  ThreadTimes times{.process = *process, .time = {}, .alive = {}};
  Nanoseconds others;
  for (ThreadKind kind = 0; kind < kThreadKinds; ++kind) {
    times.alive[kind] = ledger_.alive(kind);
    if (kind != kProgramThread) {
      times.time[kind] = ledger_.time(kind);
      others = others + times.time[kind];
    }
  }
  times.time[kProgramThread] = times.process - std::min(others, times.process);
  return times;
}

}  // namespace memgraft::linux_os
