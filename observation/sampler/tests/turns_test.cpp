#include "turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

namespace memgraft::observation {
namespace {

using Cpus = std::set<std::size_t>;

Cpus own_cpus() {
  cpu_set_t mask;
  EXPECT_EQ(sched_getaffinity(0, sizeof(mask), &mask), 0);
  Cpus cpus;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) {
      cpus.insert(cpu);
    }
  }
  return cpus;
}

bool try_to_bind(pid_t thread, const Cpus& cpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const std::size_t cpu : cpus) {
    CPU_SET(cpu, &mask);
  }
  return sched_setaffinity(thread, sizeof(mask), &mask) == 0;
}

void bind_to(const Cpus& cpus) { ASSERT_TRUE(try_to_bind(0, cpus)); }

// Those too that a sanitizer or an emulator began beside the tests' own, which may also be about to end.
void bind_all_threads_to(const Cpus& cpus) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    if (!try_to_bind(std::stoi(entry.path().filename()), cpus)) {
      EXPECT_EQ(errno, ESRCH);
    }
  }
}

Cpus taken_in(Turns& turns, std::size_t count) {
  Cpus taken;
  for (std::size_t turn = 0; turn < count; ++turn) {
    turns.next();
    EXPECT_EQ(own_cpus().size(), 1U);
    taken.merge(own_cpus());
  }
  return taken;
}

TEST(Turns, GoThroughAllCpusThatThreadsMayUse) {
  const Cpus all = own_cpus();
  std::thread([&] {
    bind_to({*all.begin()});  // as OpenMP binds the thread that this one is begun by
    Turns turns;
    for (int round = 0; round < 30; ++round) {
      EXPECT_EQ(taken_in(turns, all.size()), all);
    }
  }).join();
  EXPECT_EQ(own_cpus(), all) << "it is about one thread";
}

TEST(Turns, StayWhereAllThreadsAreBound) {
  const Cpus all = own_cpus();
  const Cpus last{*all.rbegin()};
  bind_all_threads_to(last);
  std::thread([&] {
    bind_to(all);  // it could
    Turns turns;
    EXPECT_EQ(taken_in(turns, 30), last);
  }).join();
  bind_all_threads_to(all);
}

class TurnsOfTwo : public testing::Test {
 protected:
  void SetUp() override {
    if (own_cpus().size() < 2) {
      GTEST_SKIP() << "SKIPPED: needs two CPUs that this process may use";
    }
  }
};

TEST_F(TurnsOfTwo, SeeThreadsThatBegin) {
  const Cpus all = own_cpus();
  const Cpus first{*all.begin()};
  const Cpus last{*all.rbegin()};
  bind_all_threads_to(first);
  std::thread([&] {
    Turns turns;
    EXPECT_EQ(taken_in(turns, 10), first);
    std::atomic<int> step{0};
    std::thread other([&] {
      bind_to(last);
      step = 1;
      while (step == 1) {
        std::this_thread::yield();
      }
    });
    while (step == 0) {
      std::this_thread::yield();
    }
    EXPECT_EQ(taken_in(turns, 12), (Cpus{*all.begin(), *all.rbegin()}));
    step = 2;
    other.join();
  }).join();
  bind_all_threads_to(all);
}

TEST_F(TurnsOfTwo, GiveWayToWhoeverBindsTheThread) {
  const Cpus all = own_cpus();
  std::thread([&] {
    Turns turns;
    turns.next();
    const Cpus last{*all.rbegin()};
    bind_to(last);
    EXPECT_EQ(taken_in(turns, 30), last);
  }).join();
}

}  // namespace
}  // namespace memgraft::observation
