#include "started.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <vector>

#include "memgraft/linux/threads_of.h"
#include "small_file.h"

namespace memgraft::placement {

namespace {

constexpr std::size_t kMost = 1000;  // processes to ask about

// Empty where there is none.
std::string content_of(const std::string& file) {
  std::string content;
  (void)linux_os::read_file(file, content);
  return content;
}

// Of /proc/PID/stat, from utime on: its own user and system time, then of the children it waited for.
std::array<std::uint64_t, 4> ticks_of(const std::string& process) {
  constexpr int kFieldsBetween = 11;
  std::array<std::uint64_t, 4> ticks{};
  const std::string line = content_of(process + "/stat");
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) {
    return ticks;
  }
  std::istringstream rest(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 0; field < kFieldsBetween; ++field) {
    rest >> skipped;
  }
  for (std::uint64_t& count : ticks) {
    rest >> count;
  }
  return ticks;
}

std::vector<pid_t> children_of(pid_t process, const std::string& root) {
  std::vector<pid_t> children;
  const std::string tasks = root + "/proc/" + std::to_string(process) + "/task/";
  for (const pid_t thread : linux_os::threads_of(process, root)) {
    std::istringstream list(content_of(tasks + std::to_string(thread) + "/children"));
    for (pid_t child = 0; list >> child;) {
      children.push_back(child);
    }
  }
  return children;
}

}  // namespace

CpuSeconds cpu_seconds(pid_t process, const std::string& root) {
  const std::string all = root + "/proc/";
  const auto seconds = [](std::uint64_t ticks) {
    return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  };
  const auto [user, system, waited_user, waited_system] = ticks_of(all + std::to_string(process));
  std::uint64_t started = waited_user + waited_system;
  std::vector<pid_t> found = children_of(process, root);
  for (std::size_t asked = 0; asked < found.size() && asked < kMost; ++asked) {
    for (const std::uint64_t ticks : ticks_of(all + std::to_string(found[asked]))) {
      started += ticks;
    }
    const std::vector<pid_t> more = children_of(found[asked], root);
    found.insert(found.end(), more.begin(), more.end());
  }
  return {.own = seconds(user + system), .started = seconds(started)};
}

CpuSeconds operator-(const CpuSeconds& later, const CpuSeconds& before) {
  return {.own = std::max(later.own - before.own, 0.0),
          .started = std::max(later.started - before.started, 0.0)};
}

std::string why_little_is_seen(const CpuSeconds& used, const std::string& program) {
  constexpr double kSoMuchMatters = 0.5;
  if (used.started < kSoMuchMatters || used.started < used.own) {
    return {};
  }
  std::array<char, 128> seconds{};
  (void)std::snprintf(seconds.data(), seconds.size(), "%.1f of %.1f s of CPU time", used.started,
                      used.own + used.started);
  return std::string(seconds.data()) + " were used by other processes that " + program +
         " started, which are not watched: name the program itself, or attach to it with --pid";
}

}  // namespace memgraft::placement
