#include "memgraft/linux/thread_times.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <ctime>
#include <optional>
#include <thread>
#include <vector>

#include "memgraft/linux/thread_ledger.h"

namespace memgraft::linux_os {
namespace {

constexpr ThreadKind kCompiler = 1;
constexpr ThreadKind kCollector = 2;

ThreadKind classify(std::string_view name) noexcept {
  if (name == "C2 CompilerThre") {  // cut off by the kernel
    return kCompiler;
  }
  return name.starts_with("GC Thread#") ? kCollector : kProgramThread;
}

std::uint64_t own_clock() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U) +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// A thread that has run for at least `work` CPU time, and then waits to be ended.
class Worker {
 public:
  Worker(const char* name, std::uint64_t work_ns)
      : thread_([this, name, work_ns] {
          pthread_setname_np(pthread_self(), name);
          while (own_clock() < work_ns) {
          }
          worked_ = true;
          worked_.notify_one();
          end_.wait(false);
        }) {
    worked_.wait(false);
  }
  ~Worker() { end(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  Worker(Worker&&) = delete;
  Worker& operator=(Worker&&) = delete;

  void end() {
    if (thread_.joinable()) {
      end_ = true;
      end_.notify_one();
      thread_.join();
    }
  }

 private:
  std::atomic<bool> worked_{false};
  std::atomic<bool> end_{false};
  std::thread thread_;
};

constexpr std::uint64_t kWork = 20'000'000;

TEST(ThreadTimes, AreSplitByTheNamesOfTheThreads) {
  ThreadWatch watch(classify);
  const auto before = watch.read();
  ASSERT_TRUE(before);
  EXPECT_EQ(before->alive[kCompiler], 0U);
  EXPECT_GE(before->alive[kProgramThread], 1U);
  EXPECT_EQ(before->time[kProgramThread], before->process);

  const Worker compiler("C2 CompilerThre", kWork);
  const Worker first("GC Thread#0", kWork);
  const Worker second("GC Thread#1", 2 * kWork);
  const Worker program("worker", kWork);
  const auto after = watch.read();
  ASSERT_TRUE(after);
  EXPECT_EQ(after->alive[kCompiler], 1U);
  EXPECT_EQ(after->alive[kCollector], 2U);
#ifdef __SANITIZE_THREAD__
  // Or more: ThreadSanitizer starts a thread of its own when it likes.
  EXPECT_GE(after->alive[kProgramThread], before->alive[kProgramThread] + 1);
#else
  EXPECT_EQ(after->alive[kProgramThread], before->alive[kProgramThread] + 1);
#endif
  EXPECT_GE(after->time[kCompiler].count(), kWork);
  EXPECT_GE(after->time[kCollector].count(), 3 * kWork);
  EXPECT_GE((after->time[kProgramThread] - before->time[kProgramThread]).count(), kWork);
  EXPECT_EQ(after->time[kProgramThread] + after->time[kCompiler] + after->time[kCollector], after->process);
}

TEST(ThreadTimes, OfThreadsThatEndedStayWithTheirKind) {
  ThreadWatch watch(classify);
  Worker compiler("C2 CompilerThre", kWork);
  const auto before = watch.read();
  compiler.end();
  const auto after = watch.read();
  ASSERT_TRUE(before && after);
  EXPECT_EQ(after->alive[kCompiler], 0U);
  EXPECT_GE(after->time[kCompiler].count(), kWork);
  EXPECT_GE(after->time[kCompiler], before->time[kCompiler]);
  const auto later = watch.read();
  ASSERT_TRUE(later);
  EXPECT_EQ(later->time[kCompiler], after->time[kCompiler]) << "booked once";
}

TEST(ThreadTimes, OfMoreThreadsThanOneListingHolds) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 300; ++i) {
    workers.push_back(std::make_unique<Worker>("GC Thread#", 0));
  }
  ThreadWatch watch(classify);
  const auto times = watch.read();
  ASSERT_TRUE(times);
  EXPECT_EQ(times->alive[kCollector], 300U);
  workers.clear();
  EXPECT_EQ(watch.read()->alive[kCollector], 0U);
}

// Threads as a test says they are.
class Ledger : public testing::Test {
 protected:
  struct Shown {
    pid_t tid;
    std::uint64_t cpu;
    ThreadKind kind;
  };

  // One reading in which the kernel lists `listed`, and knows of `hidden` when asked for them.
  void reading(const std::vector<Shown>& listed, const std::vector<Shown>& hidden = {}) {
    names_read_ = 0;
    ledger_.begin();
    for (const Shown& thread : listed) {
      if (ledger_.saw(thread.tid, Nanoseconds(thread.cpu))) {
        ledger_.named(thread.kind);
        ++names_read_;
      }
    }
    ledger_.end([&](pid_t tid) -> std::optional<Nanoseconds> {
      for (const Shown& thread : hidden) {
        if (thread.tid == tid) {
          return Nanoseconds(thread.cpu);
        }
      }
      return std::nullopt;
    });
  }
  std::uint64_t compiled() { return ledger_.time(kCompiler).count(); }

  ThreadLedger ledger_;
  int names_read_ = 0;
};

TEST_F(Ledger, AddsUpTheLivingAndTheEnded) {
  reading({{1, 10, kProgramThread}, {2, 20, kCompiler}, {3, 30, kCompiler}});
  EXPECT_EQ(compiled(), 50U);
  reading({{1, 11, kProgramThread}, {3, 33, kCompiler}});
  EXPECT_EQ(compiled(), 53U);
  EXPECT_EQ(ledger_.alive(kCompiler), 1U);
  reading({{1, 11, kProgramThread}});
  reading({{4, 5, kCompiler}, {1, 11, kProgramThread}});
  EXPECT_EQ(compiled(), 58U);
}

TEST_F(Ledger, KnowsThreadsInAnyOrder) {
  reading({{1, 1, kCompiler}, {2, 2, kCollector}, {3, 3, kCompiler}});
  reading({{3, 4, kCompiler}, {1, 2, kCompiler}, {2, 3, kCollector}});
  EXPECT_EQ(compiled(), 6U);
  EXPECT_EQ(ledger_.time(kCollector).count(), 3U);
}

// A number that the kernel gave away again: the clock runs backwards, and both threads count.
TEST_F(Ledger, TakesAReusedNumberForAnotherThread) {
  reading({{2, 1000, kCompiler}});
  reading({{2, 7, kCollector}});
  EXPECT_EQ(compiled(), 1000U);
  EXPECT_EQ(ledger_.time(kCollector).count(), 7U);
  EXPECT_EQ(ledger_.alive(kCompiler), 0U);
}

// Started under the name of its parent.
TEST_F(Ledger, FollowsANameThatChanges) {
  reading({{2, 10, kCompiler}});
  reading({{2, 20, kProgramThread}});
  EXPECT_EQ(compiled(), 0U);
}

TEST_F(Ledger, DoesNotBookTwiceAThreadThatAListingLeftOut) {
  reading({{2, 10, kCompiler}, {3, 5, kCompiler}});
  reading({{3, 6, kCompiler}}, {{2, 12, kCompiler}});
  EXPECT_EQ(compiled(), 18U);
  EXPECT_EQ(ledger_.alive(kCompiler), 2U);
  reading({{2, 13, kCompiler}, {3, 6, kCompiler}});
  EXPECT_EQ(compiled(), 19U);
}

TEST_F(Ledger, BooksAThreadWhoseNumberAnotherGotUnseen) {
  reading({{2, 10, kCompiler}});
  reading({}, {{2, 3, kProgramThread}});
  EXPECT_EQ(compiled(), 10U);
  EXPECT_EQ(ledger_.alive(kCompiler), 0U);
}

TEST_F(Ledger, ReadsNamesRarelyOnceTheyAreSettled) {
  std::vector<Shown> threads;
  for (pid_t tid = 1; tid <= 32; ++tid) {
    threads.push_back({tid, 1, kCompiler});
  }
  for (int i = 0; i < 3; ++i) {
    reading(threads);
    EXPECT_EQ(names_read_, 32);
  }
  for (int i = 0; i < 40; ++i) {
    reading(threads);
    EXPECT_EQ(names_read_, 2) << "each sixteenth";
  }
}

}  // namespace
}  // namespace memgraft::linux_os
