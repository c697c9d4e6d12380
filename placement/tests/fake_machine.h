// A machine with nodes, a process on it, and a monitor that sees what a test wants.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fake_root.h"
#include "memgraft/linux/process_pages.h"
#include "memgraft/observation/monitor.h"
#include "memgraft/placement/topology.h"

namespace memgraft::placement {

// move_pages(2) as the kernel does it, the end at a page that cannot be moved included.
class FakeKernel : public linux_os::ProcessPages {
 public:
  std::map<std::uint64_t, int> pages;  // where each lies
  std::set<std::uint64_t> absent;      // answers -ENOENT
  std::set<std::uint64_t> busy;        // its migration fails
  std::set<std::uint64_t> shared;      // answers -EACCES
  std::set<std::uint64_t> huge;        // where huge pages begin, which move as a whole
  std::map<int, std::size_t> room;     // of nodes that have not room for all
  int error = 0;                       // of every call
  std::size_t calls = 0;
  std::size_t moves = 0;

  int nodes(pid_t /*process*/, std::span<const std::uint64_t> addresses,
            std::span<int> answers) noexcept override {
    ++calls;
    for (std::size_t i = 0; error == 0 && i < addresses.size(); ++i) {
      answers[i] = answer(addresses[i]);
    }
    return error;
  }

  int move(pid_t /*process*/, std::span<const std::uint64_t> addresses, int node,
           std::span<int> answers) override {
    ++calls;
    std::ranges::fill(answers, kNoAnswer);
    std::vector<std::size_t> group;
    for (std::size_t i = 0; error == 0 && i < addresses.size(); ++i) {
      const int now = answer(addresses[i]);
      if (now == node || now < 0 || shared.contains(addresses[i])) {
        if (!migrate(group, addresses, node, answers)) {
          return failed_;
        }
        answers[i] = now == node || now < 0 ? now : -EACCES;
      } else {
        group.push_back(i);
      }
    }
    return error != 0 ? error : (migrate(group, addresses, node, answers) ? 0 : failed_);
  }

 private:
  int answer(std::uint64_t address) {
    const auto there = pages.find(address);
    return there == pages.end() ? -EFAULT : (absent.contains(address) ? -ENOENT : there->second);
  }

  // What can be moved is, and if one cannot nothing is told of any.
  bool migrate(std::vector<std::size_t>& group, std::span<const std::uint64_t> addresses, int node,
               std::span<int> answers) {
    bool all = true;
    for (const std::size_t i : group) {
      if (busy.contains(addresses[i])) {
        all = false;
        failed_ = -1;
        continue;
      }
      if (room.contains(node) && room[node] == 0) {
        failed_ = ENOMEM;
        return false;
      }
      if (room.contains(node)) {
        --room[node];
      }
      pages[addresses[i]] = node;
      take_along(addresses[i], node);
      ++moves;
    }
    for (const std::size_t i : group) {
      answers[i] = all ? node : kNoAnswer;
    }
    group.clear();
    return all;
  }

  void take_along(std::uint64_t address, int node) {
    constexpr std::uint64_t kHugeBytes = 2U << 20U;
    const std::uint64_t begin = address / kHugeBytes * kHugeBytes;
    if (huge.contains(begin)) {
      std::for_each(pages.lower_bound(begin), pages.lower_bound(begin + kHugeBytes),
                    [&](auto& page) { page.second = node; });
    }
  }

  int failed_ = -1;
};

class FakeMonitor : public observation::Monitor {
 public:
  [[nodiscard]] const observation::Sees& sees() const override { return sees_; }
  void drain(const observation::Sink& sink) override {
    const std::uint64_t end = cpu_nanoseconds() + std::exchange(takes_nanoseconds, 0);
    while (cpu_nanoseconds() < end) {
    }
    std::ranges::for_each(touches, sink);
    touches.clear();
  }
  [[nodiscard]] std::uint64_t lost() const override { return lost_; }

  bool keep_apart(std::uint64_t address) override {
    if (has_place) {
      apart.push_back(address);
    }
    return has_place;
  }

  // By the CPU, which is the node's.
  void touch(std::uint64_t address, std::size_t node, unsigned times = 1) {
    observation::Touch one;
    one.address = address;
    one.cpu = static_cast<std::uint32_t>(node);
    one.thread = 1000 + one.cpu;
    touches.insert(touches.end(), times, one);
  }

  std::vector<observation::Touch> touches;
  std::vector<std::uint64_t> apart;  // what it was asked to keep so
  bool has_place = true;
  std::uint64_t lost_ = 0;
  std::uint64_t takes_nanoseconds = 0;  // the next drain, of this thread's CPU time
  observation::Sees sees_{.name = "fake", .what = "", .thread = true, .cpu = true};

 private:
  static std::uint64_t cpu_nanoseconds() {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    timespec now{};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (static_cast<std::uint64_t>(now.tv_sec) * kSecond) + static_cast<std::uint64_t>(now.tv_nsec);
  }
};

inline constexpr pid_t kProcess = 77;
inline constexpr double kAllItWants = 1e12;  // of CPU time

// Nodes with a CPU each, of the same number, and with memory enough; 20 from each other.
inline void write_nodes(const linux_os::FakeRoot& root, std::size_t nodes) {
  const std::string folder = "/sys/devices/system/node/";
  const std::string list = "0-" + std::to_string(nodes - 1) + "\n";
  root.write(folder + "online", list);
  root.write("/proc/" + std::to_string(kProcess) + "/status", "Mems_allowed_list:\t" + list);
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::string number = std::to_string(node);
    std::string distances;
    for (std::size_t other = 0; other < nodes; ++other) {
      distances += other == node ? "10 " : "20 ";
    }
    root.write(folder + "node" + number + "/cpulist", number + "\n");
    root.write(folder + "node" + number + "/distance", distances + "\n");
    root.write(folder + "node" + number + "/meminfo",
               "Node " + number + " MemTotal: 1000000 kB\nNode " + number + " MemFree: 900000 kB\n");
  }
}

}  // namespace memgraft::placement
