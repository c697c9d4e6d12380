// The monitor of hint faults on a machine that a test makes up.
#include "process_events.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "fake_rings.h"
#include "made_up_process.h"
#include "memgraft/observation/hint_faults.h"

namespace memgraft::observation {
namespace {

using linux_os::FakeRings;
using linux_os::Written;

class HintFaultsOf : public MadeUpProcess {
 protected:
  void SetUp() override {
    root_.write("/proc/sys/kernel/numa_balancing", "1\n");
    root_.write("/proc/sys/kernel/perf_event_paranoid", "2\n");
    root_.write("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
    root_.write("/sys/devices/system/cpu/online", "0,2-3\n");
    thread(kProcess);
    thread(kOther);
  }
  void watch(double most_per_cpu = kMostSamplesPerCpu) {
    keep(watch_hint_faults(kProcess, events_, root_.path(), most_per_cpu));
  }
  // A fault of `thread` that the event tells of.
  void fault(const FakeRings::Asked& event, pid_t process, pid_t thread, std::uint64_t address,
             std::uint64_t time = 55) {
    Written body;
    body.add<std::uint64_t>(event.number).add<std::int32_t>(process).add<std::int32_t>(thread);
    body.add(time).add(address).add<std::int32_t>(event.cpu).add<std::uint32_t>(0);
    events_.write(event, body.record(PERF_RECORD_SAMPLE));
  }
};

TEST_F(HintFaultsOf, EveryThreadOnEveryCpuWithOneRingForEach) {
  watch();
  ASSERT_TRUE(monitor_) << why_;
  ASSERT_EQ(events_.events.size(), 6U);
  EXPECT_EQ(events_.mapped.size(), 3U);
  for (const FakeRings::Asked& event : events_.events) {
    EXPECT_EQ(event.attributes.type, static_cast<std::uint32_t>(PERF_TYPE_SOFTWARE));
    EXPECT_EQ(event.attributes.config, static_cast<std::uint64_t>(PERF_COUNT_SW_PAGE_FAULTS));
    EXPECT_EQ(event.attributes.sample_period, 1U);
    EXPECT_EQ(event.attributes.exclude_kernel, 1U);
    EXPECT_EQ(event.attributes.inherit, 1U);
    EXPECT_EQ(event.attributes.inherit_thread, 1U);
    EXPECT_EQ(event.attributes.disabled, 0U);
    EXPECT_EQ(events_.event_of(event.ring).cpu, event.cpu);
  }
  EXPECT_EQ(monitor_->sees().name, "hint-faults");
  EXPECT_TRUE(monitor_->sees().thread && monitor_->sees().cpu);
  EXPECT_FALSE(monitor_->sees().store || monitor_->sees().latency || monitor_->sees().every_access);
}

TEST_F(HintFaultsOf, FaultsBecomeTouches) {
  watch();
  fault(events_.event_on(kProcess, 2), kProcess, kProcess, 0x1000);
  fault(events_.event_on(kOther, 2), kProcess, kOther, 0x2008);
  const std::vector<Touch> touches = drained();
  ASSERT_EQ(touches.size(), 2U);
  EXPECT_EQ(touches[0].address, 0x1000U);
  EXPECT_EQ(touches[1].address, 0x2008U);
  EXPECT_EQ(touches[1].thread, static_cast<std::uint32_t>(kOther));
  EXPECT_EQ(touches[1].cpu, 2U);
  EXPECT_EQ(touches[1].nanoseconds, 55U);
  EXPECT_TRUE(drained().empty());
}

// Of a thread that was found late, or was begun by one: it has its own events, or more than one thread's.
TEST_F(HintFaultsOf, WhatTwoEventsTellOfCountsOnce) {
  watch();
  constexpr pid_t kLater = 4799;
  const FakeRings::Asked& one = events_.event_on(kProcess, 0);
  const FakeRings::Asked& two = events_.event_on(kOther, 0);
  // Linux before 6.3: each event with its number.
  fault(one, kProcess, kLater, 0x1000, 100);
  fault(two, kProcess, kLater, 0x1000, 101);
  fault(two, kProcess, kOther, 0x2000, 200);
  fault(one, kProcess, kOther, 0x2000, 201);
  EXPECT_EQ(drained().size(), 2U);
  // Later ones: both with the first one's number and time.
  fault(two, kProcess, kLater, 0x3000, 300);
  fault(two, kProcess, kLater, 0x3000, 300);
  EXPECT_EQ(drained().size(), 1U);
  fault(two, kProcess, kLater, 0x3000, 300);
  EXPECT_TRUE(drained().empty()) << "read in two parts";
}

TEST_F(HintFaultsOf, TheSameAgainCountsAgain) {
  watch();
  const FakeRings::Asked& one = events_.event_on(kProcess, 0);
  const FakeRings::Asked& two = events_.event_on(kOther, 0);
  fault(one, kProcess, kProcess, 0x1000, 100);
  fault(one, kProcess, kProcess, 0x1000, 200);
  EXPECT_EQ(drained().size(), 2U);
  for (const std::uint64_t time : {300U, 400U}) {
    fault(two, kProcess, kProcess, 0x1000, time);
    fault(one, kProcess, kProcess, 0x1000, time + 1);
  }
  EXPECT_EQ(drained().size(), 2U);
  fault(two, kProcess, kOther, 0x1000, 401);
  fault(events_.event_on(kOther, 2), kProcess, kOther, 0x1000, 401);
  EXPECT_EQ(drained().size(), 2U) << "another thread's; on another CPU";
}

TEST_F(HintFaultsOf, TooManyAreWatchedForAPartOfTheTime) {
  watch(7);  // on three CPUs
  const auto all_count = [&](bool count) {
    return std::ranges::all_of(events_.events,
                               [=](const FakeRings::Asked& event) { return event.counts == count; });
  };
  fault(events_.event_on(kProcess, 0), kProcess, kProcess, 0x1000);
  EXPECT_EQ(drained().size(), 1U);
  EXPECT_TRUE(all_count(true));
  EXPECT_EQ(monitor_->hindrance(), "");
  constexpr std::size_t kMany = 22;
  for (std::size_t page = 1; page <= kMany; ++page) {
    fault(events_.event_on(kProcess, 0), kProcess, kProcess, page * 4096, 55 + page);
  }
  EXPECT_EQ(drained().size(), kMany);
  EXPECT_TRUE(all_count(false));
  while (!all_count(true)) {
    EXPECT_TRUE(drained().empty());
  }
  const std::string hindrance = monitor_->hindrance();
  EXPECT_TRUE(hindrance.starts_with("too many page faults to read them all: it watched ")) << hindrance;
}

// Before Linux 5.13.
TEST_F(HintFaultsOf, ChildProcessesAreLeftOutWhereTheyAreFollowed) {
  events_.refuse = [](const FakeRings::Asked& asked) {
    return asked.attributes.inherit_thread != 0 ? EINVAL : 0;
  };
  watch();
  ASSERT_TRUE(monitor_) << why_;
  fault(events_.event_on(kProcess, 0), 5000, 5000, 0x1000);
  fault(events_.event_on(kProcess, 0), kProcess, kProcess, 0x2000);
  ASSERT_EQ(drained().size(), 1U);
}

TEST_F(HintFaultsOf, ThreadsThatEndedSinceTheyWereListedAreLeftOut) {
  events_.refuse = [](const FakeRings::Asked& asked) { return asked.pid == kProcess ? ESRCH : 0; };
  watch();
  ASSERT_TRUE(monitor_) << why_;
  EXPECT_EQ(events_.events.size(), 3U);
}

TEST_F(HintFaultsOf, ThreadsThatBeginWhileOthersAreOpenedAreFound) {
  events_.refuse = [this](const FakeRings::Asked&) {
    thread(4713);
    return 0;
  };
  watch();
  EXPECT_EQ(events_.events.size(), 9U);
}

TEST_F(HintFaultsOf, RingsAreSmallerWhereLessMemoryMayBeLocked) {
  events_.most_mapped = 4096UL + 64UL * 1024;
  watch();
  ASSERT_TRUE(monitor_) << why_;
  for (const auto& [fd, areas] : events_.mapped) {
    EXPECT_EQ(areas.front().bytes, events_.most_mapped);
  }
}

TEST_F(HintFaultsOf, ManyCpusShareTheMemory) {
  root_.write("/sys/devices/system/cpu/online", "0-255\n");
  watch();
  ASSERT_TRUE(monitor_) << why_;
  EXPECT_EQ(events_.mapped.size(), 256U);
  EXPECT_EQ(events_.mapped.begin()->second.front().bytes, 4096 + ProcessEvents::kAllRingsBytes / 256);
}

TEST_F(HintFaultsOf, NoMemoryMayBeLocked) {
  events_.most_mapped = 0;
  watch();
  EXPECT_EQ(why_,
            "hint-faults: no memory may be locked for what is seen: /proc/sys/kernel/perf_event_mlock_kb is "
            "516 for all "
            "CPUs and programs of a user together, some of whom hold it: raise it, or `ulimit -l`");
}

TEST_F(HintFaultsOf, NotPermitted) {
  root_.write("/proc/sys/kernel/perf_event_paranoid", "3\n");
  events_.refuse = [](const FakeRings::Asked&) { return EACCES; };
  watch();
  EXPECT_EQ(
      why_,
      "hint-faults: not permitted: /proc/sys/kernel/perf_event_paranoid is 3, expected 2 or lower: `sysctl "
      "kernel.perf_event_paranoid=2`, or run with CAP_PERFMON (a container's seccomp filter also forbids "
      "it)");
}

TEST_F(HintFaultsOf, TooFewDescriptors) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit lower = before;
  lower.rlim_cur = before.rlim_max / 2;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  const auto limit = [] {
    rlimit now{};
    getrlimit(RLIMIT_NOFILE, &now);
    return now.rlim_cur;
  };
  events_.refuse = [&](const FakeRings::Asked&) { return limit() < before.rlim_max ? EMFILE : 0; };
  watch();
  ASSERT_TRUE(monitor_) << why_;
  EXPECT_EQ(limit(), before.rlim_max) << "raised as far as it may be";
  monitor_.reset();
  EXPECT_EQ(limit(), lower.rlim_cur);

  events_.refuse = [](const FakeRings::Asked&) { return EMFILE; };
  watch();
  EXPECT_EQ(why_,
            "hint-faults: process 4711 has so many threads that a file descriptor for each on each CPU is "
            "more than "
            "`ulimit -Hn` allows: raise it");
  EXPECT_EQ(limit(), lower.rlim_cur);
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(HintFaultsOf, LostOnesAreCounted) {
  watch();
  events_.write(events_.event_on(kProcess, 3),
                Written().add<std::uint64_t>(1000).add<std::uint64_t>(12).record(PERF_RECORD_LOST));
  EXPECT_TRUE(drained().empty());
  EXPECT_EQ(monitor_->lost(), 12U);
}

TEST_F(HintFaultsOf, AKernelThatDoesNotMakeThem) {
  root_.write("/proc/sys/kernel/numa_balancing", "0\n");
  watch();
  EXPECT_EQ(why_,
            "hint-faults: kernel.numa_balancing is 0, expected 1, as only first touches would be seen: "
            "`--numa-balancing`, or `sysctl kernel.numa_balancing=1`");
  EXPECT_TRUE(events_.events.empty());
}

TEST_F(HintFaultsOf, NoSuchProcess) {
  auto watching = watch_hint_faults(999, events_, root_.path());
  ASSERT_TRUE(std::holds_alternative<Refusal>(watching));
  EXPECT_EQ(std::get<Refusal>(watching).why, "hint-faults: there is no process 999, or it has ended");
}

}  // namespace
}  // namespace memgraft::observation
