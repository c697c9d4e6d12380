#include "memgraft/observation/hint_faults.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "fake_root.h"
#include "memgraft/deep.h"
#include "memgraft/observation/numa_balancing.h"
#include "watched_program.h"

namespace memgraft::observation {
namespace {

using linux_os::PerfEvents;
using Watching = std::variant<std::unique_ptr<Monitor>, Refusal>;

constexpr std::uint64_t kPage = 4096;
constexpr double kAll = 1e9;  // no limit
constexpr std::chrono::seconds kPatience{
    100};  // for a kernel that scans when it likes, on a machine with others

// As touches have them.
std::uint64_t nanoseconds_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(since).count());
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t mapped_rings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t rings = 0;
  for (std::string line; std::getline(maps, line);) {
    rings += line.find("perf_event") != std::string::npos ? 1U : 0U;
  }
  return rings;
}

// Real events and a real process on a machine whose kernel.numa_balancing is what the test wants: first
// touches are seen with any.
class FirstTouches : public testing::Test {
 protected:
  void SetUp() override { root_.write("/proc/sys/kernel/numa_balancing", "1\n"); }

  Watching watch(pid_t pid) {
    const std::string process = "/proc/" + std::to_string(pid);
    std::error_code ignored;
    std::filesystem::create_symlink(process, root_.path() + process, ignored);
    root_.write("/sys/devices/system/cpu/online", linux_online());
    return watch_hint_faults(pid, PerfEvents::real(), root_.path(), kAll);
  }
  // Until `enough`: where that never comes, the test's time limit ends it.
  void collect(Monitor& monitor, const std::function<bool()>& enough) {
    while (!enough()) {
      monitor.drain([&](const Touch& touch) { touches_.push_back(touch); });
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  [[nodiscard]] std::size_t touched_in(const WatchedProgram::Region& region) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(touches_, [&](const Touch& touch) { return region.holds(touch.address); }));
  }
  // Its thread touches the first byte of each page; what lay there before, and is gone, was touched
  // elsewhere.
  void expect_only_by_its_thread(const WatchedProgram::Region& region) const {
    for (const Touch& touch : touches_) {
      if (region.holds(touch.address) && touch.address % kPage == 0) {
        ASSERT_EQ(touch.thread, region.thread) << "the page at " << touch.address;
      }
    }
  }

  linux_os::FakeRoot root_;
  std::vector<Touch> touches_;

 private:
  static std::string linux_online() {
    std::ifstream file("/sys/devices/system/cpu/online");
    std::string line;
    std::getline(file, line);
    return line + "\n";
  }
};

#define MONITOR_OR_SKIP(name, watching)                                        \
  Watching name##_watching = (watching);                                       \
  if (const Refusal* const refusal = std::get_if<Refusal>(&name##_watching)) { \
    GTEST_SKIP() << "no perf events here: " << refusal->why;                   \
  }                                                                            \
  Monitor& name = *std::get<std::unique_ptr<Monitor>>(name##_watching)

TEST_F(FirstTouches, OfThreadsThatWereThereAndOfThreadsThatBeginLater) {
  WatchedProgram program({"64"});
  program.start_thread();
  const WatchedProgram::Region before = program.region();
  MONITOR_OR_SKIP(monitor, watch(program.pid()));
  program.start_thread();
  program.start_thread();
  const WatchedProgram::Region first = program.region();
  const WatchedProgram::Region second = program.region();
  collect(monitor, [&] { return touched_in(first) >= 64 && touched_in(second) >= 64; });
  expect_only_by_its_thread(first);
  expect_only_by_its_thread(second);
  expect_only_by_its_thread(before);
  EXPECT_EQ(monitor.lost(), 0U);
  for (const Touch& touch : touches_) {
    EXPECT_FALSE(touch.store || touch.latency_cycles || touch.stands_for);
  }
}

TEST_F(FirstTouches, FromTheFirstInstructionOfAChildThatWaitsBeforeItsExec) {
  WatchedProgram program({"64"}, WatchedProgram::Begin::stopped_before_exec);
  MONITOR_OR_SKIP(monitor, watch(program.pid()));
  program.go_on();
  program.start_thread();
  const WatchedProgram::Region region = program.region();
  collect(monitor, [&] { return touched_in(region) >= 64; });
  expect_only_by_its_thread(region);
}

// Threads begin while the events are opened, on every side of every step: each page's only touch is seen
// once, or before all are open not at all.
TEST_F(FirstTouches, OfThreadsThatBeginMeanwhileAreSeenOnce) {
  MEMGRAFT_DEEP_TEST();
  const std::size_t pages = 20000;
  constexpr std::chrono::seconds kNothingNew{20};
  const auto end = std::chrono::steady_clock::now() + kPatience;
  // On a busy machine a ring may run full before it is this thread's turn, or the chain be over before it is
  // watched: that says nothing, and again.
  while (std::chrono::steady_clock::now() < end) {
    WatchedProgram program({std::to_string(pages), "chain"});
    const WatchedProgram::Region region = program.region();
    MONITOR_OR_SKIP(monitor, watch(program.pid()));
    const std::uint64_t all_are_open = nanoseconds_now();
    std::map<std::uint64_t, unsigned> seen;
    std::uint64_t expected = region.end;
    const auto drain = [&] {
      monitor.drain([&](const Touch& touch) {
        if (region.holds(touch.address) && touch.address % kPage == 0) {
          ++seen[touch.address];
          expected = touch.nanoseconds > all_are_open ? std::min(expected, touch.address) : expected;
        }
      });
    };
    const auto last_is_seen = [&] { return !seen.empty() && seen.rbegin()->first == region.end - kPage; };
    auto too_long = std::chrono::steady_clock::now() + kNothingNew;
    while (!last_is_seen() && monitor.lost() == 0 && std::chrono::steady_clock::now() < too_long) {
      const std::size_t before = seen.size();
      drain();
      if (seen.size() != before) {
        too_long = std::chrono::steady_clock::now() + kNothingNew;
      }
    }
    drain();  // of a CPU whose ring was read before that of the last touch
    if (monitor.lost() != 0 || seen.empty()) {
      continue;
    }
    ASSERT_TRUE(last_is_seen()) << "up to " << (seen.rbegin()->first - region.begin) / kPage << " of "
                                << pages;
    std::uint64_t gaps = 0;
    for (const auto& [address, times] : seen) {
      EXPECT_EQ(times, 1U) << address;
      if (address >= expected) {
        gaps += (address - expected) / kPage;
        expected = address + kPage;
      }
    }
    EXPECT_EQ(gaps, 0U);
    return;
  }
  GTEST_SKIP() << "SKIPPED: this machine is too busy to read what every thread touches";
}

TEST_F(FirstTouches, AProcessThatEnds) {
  WatchedProgram program({"64"});
  MONITOR_OR_SKIP(monitor, watch(program.pid()));
  program.start_thread();
  const WatchedProgram::Region region = program.region();
  collect(monitor, [&] { return touched_in(region) >= 64; });
  const pid_t pid = program.pid();
  program.end();
  expect_only_by_its_thread(region);
  monitor.drain([](const Touch&) {});
  std::size_t after = 0;
  monitor.drain([&](const Touch&) { ++after; });
  EXPECT_EQ(after, 0U);
  const Watching again = watch(pid);
  ASSERT_TRUE(std::holds_alternative<Refusal>(again));
  EXPECT_EQ(std::get<Refusal>(again).why,
            "hint-faults: there is no process " + std::to_string(pid) + ", or it has ended");
}

TEST_F(FirstTouches, NothingIsLeftBehind) {
  WatchedProgram program({"64"});
  program.start_thread();
  const WatchedProgram::Region started = program.region();
  EXPECT_NE(started.thread, 0U);
  const std::size_t descriptors = open_descriptors();
  {
    MONITOR_OR_SKIP(monitor, watch(program.pid()));
    EXPECT_GT(open_descriptors(), descriptors);
    EXPECT_GT(mapped_rings(), 0U);
    monitor.drain([](const Touch&) {});
  }
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(mapped_rings(), 0U);
}

// The kernel's scans, really: pages that were all there before it was attached.
TEST(HintFaults, ShowWhichThreadTouchesWhichPage) {
  MEMGRAFT_DEEP_TEST();
  auto balancing = NumaBalancing::turn_on("");
  if (const Refusal* const refusal = std::get_if<Refusal>(&balancing)) {
    GTEST_SKIP() << refusal->why;
  }
  constexpr std::size_t kPages = 512;
  WatchedProgram program({std::to_string(kPages)});
  std::vector<WatchedProgram::Region> regions;
  for (int thread = 0; thread < 2; ++thread) {
    program.start_thread();
    regions.push_back(program.region());
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  MONITOR_OR_SKIP(monitor, watch_hint_faults(program.pid(), PerfEvents::real(), ""));
  std::map<std::uint32_t, std::set<std::uint64_t>> pages;  // by thread
  std::size_t touches = 0;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  const auto all_seen = [&] {
    return std::ranges::all_of(regions,
                               [&](const auto& region) { return pages[region.thread].size() == kPages; });
  };
  while (std::chrono::steady_clock::now() < end && !all_seen()) {
    if (why_no_hint_faults("")) {
      balancing = Refusal{};                   // The old one's end would end the new one's too.
      balancing = NumaBalancing::turn_on("");  // Whoever else had turned it on has ended.
    }
    monitor.drain([&](const Touch& touch) {
      for (const WatchedProgram::Region& region : regions) {
        if (region.holds(touch.address)) {
          ASSERT_EQ(touch.thread, region.thread);
          pages[touch.thread].insert(touch.address / kPage);
          ++touches;
        }
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(all_seen()) << pages[regions[0].thread].size() << " and " << pages[regions[1].thread].size()
                          << " of " << kPages << " pages";
  RecordProperty("touches", static_cast<int>(touches));
}

}  // namespace
}  // namespace memgraft::observation
