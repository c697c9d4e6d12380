#include "memgraft/linux/perf_counters.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "fake_root.h"

namespace memgraft::linux_os {
namespace {

Counter named(const std::vector<Counter>& counters, std::string_view name) {
  for (const Counter& counter : counters) {
    if (counter.name == name) {
      return counter;
    }
  }
  ADD_FAILURE() << "no counter " << name;
  return {};
}

// A machine that answers as a test wants.
class FakeEvents : public PerfEvents {
 public:
  struct Asked {
    perf_event_attr attributes;
    pid_t pid;
    int cpu;
  };

  int open(const perf_event_attr& attributes, pid_t pid, int cpu) noexcept override {
    asked_.push_back({attributes, pid, cpu});
    const int error = refuse_(asked_.back());
    if (error != 0) {
      return -error;
    }
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    opened_[fd] = asked_.back();
    return fd;
  }
  std::optional<PerfReading> read(int fd) noexcept override { return reading_(opened_.at(fd)); }

  std::function<int(const Asked&)> refuse_ = [](const Asked&) { return 0; };
  std::function<std::optional<PerfReading>(const Asked&)> reading_ = [](const Asked&) {
    return PerfReading{.count = 1, .enabled_nanoseconds = 1, .running_nanoseconds = 1};
  };
  std::vector<Asked> asked_;
  std::map<int, Asked> opened_;
};

class PerfCountersOf : public testing::Test {
 protected:
  void paranoid(const std::string& setting) {
    root_.write("/proc/sys/kernel/perf_event_paranoid", setting + "\n");
  }
  std::vector<Counter> counters() { return PerfCounters(root_.path(), events_).read(); }
  std::string reason(std::string_view name) { return named(counters(), name).reason; }
  void memory_controller() {
    const std::string folder = "/sys/bus/event_source/devices/uncore_imc_0";
    root_.write(folder + "/type", "14\n");
    root_.write(folder + "/cpumask", "0,18\n");
    root_.write(folder + "/format/event", "config:0-7\n");
    for (const char* const event : {"cas_count_read", "cas_count_write"}) {
      root_.write(folder + "/events/" + event, "event=0x04\n");
      root_.write(folder + "/events/" + event + ".scale", "6.103515625e-5\n");
      root_.write(folder + "/events/" + event + ".unit", "MiB\n");
    }
  }

  FakeRoot root_;
  FakeEvents events_;
};

TEST_F(PerfCountersOf, AMachineWithAllOfThem) {
  memory_controller();
  const std::vector<Counter> all = counters();
  EXPECT_EQ(all.size(), 12U);
  for (const Counter& counter : all) {
    EXPECT_TRUE(counter.available) << counter.name;
    EXPECT_FALSE(counter.unit.empty()) << counter.name;
    EXPECT_EQ(counter.running_share, 1) << counter.name;
  }
  EXPECT_EQ(named(all, "cycles").reason, "user and kernel mode");
  EXPECT_EQ(named(all, "memory_read").reason, "the whole machine, all its processes");
  EXPECT_EQ(named(all, "memory_read").value, 128) << "a line of each of two sockets";
}

TEST_F(PerfCountersOf, AskForThisThreadAndTheThreadsThatItStarts) {
  memory_controller();
  counters();
  const auto& cycles = events_.asked_.front();
  EXPECT_EQ(cycles.pid, 0);
  EXPECT_EQ(cycles.cpu, -1);
  EXPECT_EQ(cycles.attributes.inherit, 1U);
  EXPECT_EQ(cycles.attributes.inherit_thread, 1U);
  EXPECT_EQ(cycles.attributes.disabled, 0U);
  EXPECT_EQ(cycles.attributes.size, sizeof(perf_event_attr));
  const auto& last = events_.asked_.back();
  EXPECT_EQ(last.pid, -1);
  EXPECT_EQ(last.cpu, 18);
  EXPECT_EQ(last.attributes.type, 14U);
  EXPECT_EQ(last.attributes.config, 4U);
  EXPECT_EQ(last.attributes.inherit, 0U);
}

// The numbers of perf_event_open(2): last-level cache 2, data TLB 3; operation write 1; result miss 1.
TEST_F(PerfCountersOf, CacheEventsAreEncodedAsTheManualSays) {
  counters();
  std::vector<std::uint64_t> cache;
  for (const auto& asked : events_.asked_) {
    if (asked.attributes.type == PERF_TYPE_HW_CACHE) {
      cache.push_back(asked.attributes.config);
    }
  }
  EXPECT_EQ(cache, (std::vector<std::uint64_t>{0x10002, 0x10102, 0x10103}));
}

TEST_F(PerfCountersOf, EventsThatTookTurnsAreScaledUp) {
  events_.reading_ = [](const FakeEvents::Asked&) {
    return PerfReading{.count = 1000, .enabled_nanoseconds = 400, .running_nanoseconds = 100};
  };
  const Counter cycles = named(counters(), "cycles");
  EXPECT_DOUBLE_EQ(cycles.value, 4000);
  EXPECT_DOUBLE_EQ(cycles.running_share, 0.25);
}

TEST_F(PerfCountersOf, SumsShowTheSmallestShareOfTheirParts) {
  memory_controller();
  events_.reading_ = [](const FakeEvents::Asked& asked) {
    return PerfReading{
        .count = 10, .enabled_nanoseconds = 10, .running_nanoseconds = asked.cpu == 18 ? 5U : 10U};
  };
  const Counter read = named(counters(), "memory_read");
  EXPECT_DOUBLE_EQ(read.value, 64 * (10 + 20));
  EXPECT_DOUBLE_EQ(read.running_share, 0.5);
}

TEST_F(PerfCountersOf, EventsThatNeverRanAreNotZero) {
  events_.reading_ = [](const FakeEvents::Asked&) {
    return PerfReading{.count = 0, .enabled_nanoseconds = 100, .running_nanoseconds = 0};
  };
  const Counter cycles = named(counters(), "cycles");
  EXPECT_FALSE(cycles.available);
  EXPECT_NE(cycles.reason.find("never got to run"), std::string::npos);
}

TEST_F(PerfCountersOf, AMachineWithoutThemSaysSo) {
  events_.refuse_ = [](const FakeEvents::Asked&) { return ENOENT; };
  for (const Counter& counter : counters()) {
    EXPECT_FALSE(counter.available) << counter.name;
    EXPECT_EQ(counter.value, 0) << counter.name;
  }
  EXPECT_EQ(reason("cycles"), "this CPU or hypervisor offers no such counter");
  EXPECT_NE(reason("memory_read").find("uncore_imc"), std::string::npos);
  events_.refuse_ = [](const FakeEvents::Asked&) { return ENOSYS; };
  EXPECT_NE(reason("cycles").find("no perf events"), std::string::npos);
  events_.refuse_ = [](const FakeEvents::Asked&) { return E2BIG; };
  EXPECT_EQ(reason("cycles"), "perf_event_open: Argument list too long");
}

TEST_F(PerfCountersOf, AParanoidKernelCountsUserModeOnly) {
  paranoid("2");
  events_.refuse_ = [](const FakeEvents::Asked& asked) {
    return asked.attributes.exclude_kernel != 0 ? 0 : EACCES;
  };
  memory_controller();
  EXPECT_EQ(reason("cycles"), "user mode only (perf_event_paranoid)");
  EXPECT_EQ(reason("page_faults"), "user mode only (perf_event_paranoid)");
  EXPECT_EQ(reason("cpu_time"), "user and kernel mode") << "the clock runs in both";
  // All context switches are the kernel's: without it there would be none, which is wrong.
  const Counter switches = named(counters(), "context_switches");
  EXPECT_FALSE(switches.available);
  EXPECT_NE(switches.reason.find("perf_event_paranoid is 2, expected 1 or lower"), std::string::npos);
  EXPECT_NE(reason("memory_read").find("expected 0 or lower: `sysctl kernel.perf_event_paranoid=0`"),
            std::string::npos);
}

TEST_F(PerfCountersOf, ACompletelyParanoidKernelSaysWhatToSet) {
  paranoid("4");
  events_.refuse_ = [](const FakeEvents::Asked&) { return EPERM; };
  EXPECT_NE(reason("cycles").find("perf_event_paranoid is 4, expected 2 or lower"), std::string::npos);
  paranoid("-1");
  EXPECT_NE(reason("cycles").find("is -1, which allows it: a container's seccomp filter"), std::string::npos);
  root_.remove("/proc/sys/kernel/perf_event_paranoid");
  EXPECT_NE(reason("cycles").find("perf_event_paranoid is unknown"), std::string::npos);
}

TEST_F(PerfCountersOf, AnOldKernelCountsChildProcessesToo) {
  events_.refuse_ = [](const FakeEvents::Asked& asked) {
    return asked.attributes.inherit_thread != 0 ? EINVAL : 0;
  };
  EXPECT_NE(reason("cycles").find("child processes are counted too"), std::string::npos);
}

TEST_F(PerfCountersOf, HalfOfTheMemoryControllersAreNoSum) {
  memory_controller();
  events_.refuse_ = [](const FakeEvents::Asked& asked) { return asked.cpu == 18 ? ENODEV : 0; };
  EXPECT_FALSE(named(counters(), "memory_read").available);
}

// The real system call, with the events that every kernel counts itself.
class RealPerfCounters : public testing::Test {
 protected:
  // For PerfCounters::value; nullopt when the counter is not available.
  static std::optional<std::size_t> place_of(const PerfCounters& counters, std::string_view name) {
    const std::vector<Counter> all = counters.read();
    for (std::size_t place = 0; place < all.size(); ++place) {
      if (all[place].name == name && all[place].available) {
        return place;
      }
    }
    return std::nullopt;
  }

  static void fault_pages_in(int pages) {
    const auto size = static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    madvise(memory, size, MADV_NOHUGEPAGE);
    for (std::size_t at = 0; at < size; at += static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
      static_cast<volatile char*>(memory)[at] = 1;
    }
    munmap(memory, size);
  }
};

TEST_F(RealPerfCounters, AreThereOrSayWhyNot) {
  const std::vector<Counter> all = PerfCounters().read();
  EXPECT_EQ(all.size(), 12U);
  for (const Counter& counter : all) {
    EXPECT_FALSE(counter.reason.empty()) << counter.name;
    EXPECT_EQ(counter.reason.find("perf_event_open:"), std::string::npos) << counter.reason;
  }
}

TEST_F(RealPerfCounters, CountThisThreadAndThoseItStarts) {
  const PerfCounters counters;
  const auto place = place_of(counters, "page_faults");
  if (!place) {
    GTEST_SKIP() << named(counters.read(), "page_faults").reason;
  }
  const double before = counters.value(*place)->value;
  fault_pages_in(100);
  const double here = counters.value(*place)->value;
  EXPECT_GE(here - before, 100);
  std::thread(fault_pages_in, 300).join();
  const auto together = counters.value(*place);
  EXPECT_GE(together->value - here, 300);
  EXPECT_EQ(together->running_share, 1);
}

TEST_F(RealPerfCounters, LeaveChildProcessesOut) {
  const PerfCounters counters;
  const auto place = place_of(counters, "page_faults");
  if (!place || named(counters.read(), "page_faults").reason.find("child") != std::string::npos) {
    GTEST_SKIP() << named(counters.read(), "page_faults").reason;
  }
  const double before = counters.value(*place)->value;
  const pid_t child = fork();
  if (child == 0) {
    fault_pages_in(20'000);
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_LT(counters.value(*place)->value - before, 10'000);
}

TEST_F(RealPerfCounters, KnowTheCpuTimeAndTheSwitches) {
  const PerfCounters counters;
  const auto cpu_time = place_of(counters, "cpu_time");
  const auto switches = place_of(counters, "context_switches");
  if (!cpu_time || !switches) {
    GTEST_SKIP() << named(counters.read(), "context_switches").reason;
  }
  const auto thread_clock = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (static_cast<double>(time.tv_sec) * 1e9) + static_cast<double>(time.tv_nsec);
  };
  const double start = thread_clock();
  const double counted = counters.value(*cpu_time)->value;
  const double switched = counters.value(*switches)->value;
  while (thread_clock() - start < 2e7) {
  }
  for (int i = 0; i < 10; ++i) {
    usleep(1000);
  }
  EXPECT_GE(counters.value(*cpu_time)->value - counted, 1.9e7);
  EXPECT_GE(counters.value(*switches)->value - switched, 10);
}

TEST_F(RealPerfCounters, CloseOnExec) {
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(fd);
  const PerfCounters counters;
  if (!place_of(counters, "page_faults")) {
    GTEST_SKIP() << named(counters.read(), "page_faults").reason;
  }
  // The lowest free descriptor is given out first (open(2)).
  EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

}  // namespace
}  // namespace memgraft::linux_os
