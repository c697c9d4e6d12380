// One allocating thread: what is ready, what is not, what lies outside, and the helper as the program sees
// it.
#include <dirent.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <vector>

#include "nursery.h"

namespace memgraft::zeroing::testing {
namespace {

constexpr std::size_t kBlock = 64 * kKiB;

class Ahead : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { ASSERT_TRUE(ahead.start(reason)) << reason; }

  bool all_zeroed(std::size_t bytes) {
    return eventually([&] { return ahead.counts().zeroed_ahead >= Bytes(bytes); });
  }

  const Nursery& nursery_of(std::size_t bytes) { return nursery_.emplace(bytes); }

 private:
  std::optional<Nursery> nursery_;  // outlives the helper, which zeroes until `ahead` closes or ends

 protected:
  ZeroingAhead ahead{settings(GetParam(), kBlock)};
  std::string reason;
};

INSTANTIATE_TEST_SUITE_P(Helper, Ahead, ::testing::Bool(), [](const auto& test) {
  return test.param ? std::string("StolenFrom") : std::string("WaitedFor");
});

TEST_P(Ahead, WhatIsReadyIsOnlyLookedAt) {
  const Nursery& nursery = nursery_of(kMiB);
  nursery.soil();
  ahead.open(nursery.memory());
  ASSERT_TRUE(all_zeroed(kMiB));

  const auto taken = ahead.take(nursery.memory().data(), kMiB);

  EXPECT_EQ(taken.ready, Bytes(kMiB));
  EXPECT_EQ(taken.zeroed, Bytes(0));
  EXPECT_TRUE(holds(nursery.memory(), std::byte{0}));
  ahead.close();
  const auto counts = ahead.counts();
  EXPECT_EQ(counts.taken_ready, Bytes(kMiB));
  EXPECT_EQ(counts.zeroed_now, Bytes(0));
  EXPECT_EQ(counts.opens, 1U);
  EXPECT_EQ(counts.closes, 1U);
  EXPECT_GT(counts.helper_cpu_time, Nanoseconds(0));
  EXPECT_GT(counts.helper_cycles, Cycles(0));
}

TEST_P(Ahead, MemoryOutsideTheRegionIsZeroedByWhoTakesIt) {
  const Nursery& nursery = nursery_of(kMiB);
  nursery.soil();
  const auto region =
      nursery.memory().subspan(kBlock + 24, 2 * kBlock);  // begins and ends within cache lines
  ahead.open(region);
  ASSERT_TRUE(all_zeroed(2 * kBlock - 64));

  const auto taken = ahead.take(nursery.memory().data(), kMiB);

  EXPECT_EQ(taken.ready, Bytes(2 * kBlock - 64));
  EXPECT_EQ(taken.zeroed, Bytes(kMiB - 2 * kBlock + 64));
  EXPECT_TRUE(holds(nursery.memory(), std::byte{0}));
}

TEST_P(Ahead, WritesNothingOutsideTheRegionAndNothingOnceClosed) {
  const Nursery& nursery = nursery_of(kMiB);
  nursery.soil();
  const auto region = nursery.memory().subspan(3 * kBlock + 1000, 5 * kBlock + 3);
  ahead.open(region);
  ASSERT_TRUE(all_zeroed(5 * kBlock - 128));
  ahead.close();
  EXPECT_TRUE(holds(nursery.memory().first(3 * kBlock + 1000), kDirt));
  const auto after = nursery.memory().subspan(8 * kBlock + 1003);
  EXPECT_TRUE(holds(after, kDirt));

  const auto taken = ahead.take(region.data(), region.size());

  EXPECT_EQ(taken.ready, Bytes(0)) << "what was zeroed in a generation that is over is dirty";
  EXPECT_TRUE(holds(region, std::byte{0}));
}

// Neighbours in one block: the second must zero its part and leave the first's alone, and the helper both.
TEST_P(Ahead, PartsOfOneBlock) {
  const Nursery& nursery = nursery_of(kMiB);
  for (std::size_t cut = 1; cut < kBlock; cut += 4093) {
    nursery.soil();
    ahead.open(nursery.memory());
    ahead.take(nursery.memory().data() + 5 * kBlock, cut);
    fill(nursery.memory().subspan(5 * kBlock, cut), std::byte{1});
    ahead.take(nursery.memory().data() + 5 * kBlock + cut, kBlock - cut);
    fill(nursery.memory().subspan(5 * kBlock + cut, kBlock - cut), std::byte{2});
    ahead.close();
    const auto whole = nursery.memory().subspan(5 * kBlock, kBlock);
    ASSERT_TRUE(holds(whole.first(cut), std::byte{1}));
    ASSERT_TRUE(holds(whole.subspan(cut), std::byte{2}));
  }
}

TEST_P(Ahead, ExcludedMemoryIsLeftAlone) {
  const Nursery& nursery = nursery_of(8 * kMiB);
  for (int round = 0; round < 20; ++round) {
    nursery.soil();
    ahead.open(nursery.memory());
    const auto excluded =
        nursery.memory().subspan(static_cast<std::size_t>(round) * 3 * kBlock + 77, 2 * kBlock);
    ahead.exclude(excluded.data(), excluded.size());
    fill(excluded, std::byte{7});
    // Everything else is zeroed or skipped; then nothing more happens.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ahead.close();
    ASSERT_TRUE(holds(excluded, std::byte{7}));
  }
}

TEST_P(Ahead, RegionsOfAnySizeOneAfterTheOther) {
  const Nursery& nursery = nursery_of(2 * kMiB);
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    nursery.soil();
    const std::size_t from = random.below(nursery.memory().size());
    const auto region = nursery.memory().subspan(from, random.below(nursery.memory().size() - from));
    ahead.open(region);
    const std::size_t skip = random.below(region.size() + 1);
    const auto piece = region.subspan(skip, random.below(region.size() - skip + 1));
    const auto taken = ahead.take(piece.data(), piece.size());
    ASSERT_EQ(taken.ready + taken.zeroed, Bytes(piece.size()));
    ASSERT_TRUE(holds(piece, std::byte{0}));
  }
  EXPECT_EQ(ahead.counts().closes + 1, ahead.counts().opens) << "open() closes what is still open";
}

// Without a fork handler: a child made by clone(2) runs none.
TEST_P(Ahead, AForkedChildZeroesForItself) {
  // Not first by the helper: a child that is forked meanwhile would wait for that, as ThreadSanitizer's
  // pthread_once, unlike glibc's, knows nothing of forks.
  (void)memgraft_zero_chosen(MEMGRAFT_ZERO_ORDINARY);
  const Nursery& nursery = nursery_of(16 * kMiB);
  for (int round = 0; round < 10; ++round) {
    nursery.soil();
    ahead.open(nursery.memory());
    std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto taken = ahead.take(nursery.memory().data(), nursery.memory().size());
      const bool zero = holds(nursery.memory(), std::byte{0});
      ahead.close();
      ahead.open(nursery.memory());
      const auto again = ahead.take(nursery.memory().data(), kMiB);
      _exit(zero && taken.ready == Bytes(0) && again.ready == Bytes(0) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    ahead.close();
  }
}

std::vector<std::string> own_threads() {
  std::vector<std::string> threads;
  DIR* const folder = opendir("/proc/self/task");
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') {
      threads.emplace_back(std::string("/proc/self/task/") + entry->d_name);
    }
  }
  closedir(folder);
  return threads;
}

std::string line_of(const std::string& file, const std::string& start) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) {
      return line;
    }
  }
  return {};
}

TEST_P(Ahead, TheHelperIsNamedAndTakesNoSignals) {
  // All 64 but SIGKILL, SIGSTOP and the two that the C library keeps to itself (nptl(7)): with one of those
  // blocked, setuid(2) would wait for ever.
  EXPECT_TRUE(eventually([] {
    return std::ranges::any_of(own_threads(), [](const std::string& thread) {
      return line_of(thread + "/comm", "") == "memgraft-zero" &&
             line_of(thread + "/status", "SigBlk:") == "SigBlk:\tfffffffe7ffbfeff";
    });
  }));
  sigset_t here;
  sigemptyset(&here);
  pthread_sigmask(SIG_SETMASK, nullptr, &here);
  EXPECT_EQ(sigismember(&here, SIGTERM), 0) << "the caller's mask is as before";
}

// Run once more with that setting by CMakeLists.txt: everything works, by waiting.
TEST(AheadWithoutSequences, TheReasonIsNamed) {
  const char* const tunables = std::getenv("GLIBC_TUNABLES");
  if (tunables == nullptr || std::string(tunables).find("glibc.pthread.rseq=0") == std::string::npos) {
    GTEST_SKIP()
        << "SKIPPED: needs GLIBC_TUNABLES=glibc.pthread.rseq=0, with which zeroing.ahead.without_rseq runs";
  }
  ZeroingAhead ahead(settings(true, kBlock));
  std::string reason;
  ASSERT_TRUE(ahead.start(reason)) << reason;
  EXPECT_FALSE(ahead.can_steal(reason));
  EXPECT_FALSE(reason.empty());
}

TEST(AheadWithoutHelper, AllocatingThreadsZeroForThemselves) {
  const Nursery nursery(kMiB);
  nursery.soil();
  ZeroingAhead ahead(settings(true, kBlock));
  ahead.open(nursery.memory());
  const auto taken = ahead.take(nursery.memory().data(), kMiB);
  EXPECT_EQ(taken.zeroed, Bytes(kMiB));
  EXPECT_TRUE(holds(nursery.memory(), std::byte{0}));
  ahead.exclude(nursery.memory().data(), kMiB);
  ahead.close();
  EXPECT_EQ(ahead.counts().zeroed_now, Bytes(kMiB));
  EXPECT_EQ(ahead.counts().opens, 0U);
}

TEST(AheadWithoutHelper, SettingsThatCannotWorkAreNamed) {
  std::string reason;
  ZeroingAhead odd(settings(true, 5000));
  EXPECT_FALSE(odd.start(reason));
  EXPECT_NE(reason.find("block_bytes is 5000"), std::string::npos) << reason;
}

TEST(AheadWithoutHelper, AThreadThatTheSystemRefusesIsNamed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "SKIPPED: a sanitizer needs the address space that this test takes away";
#endif
  const pid_t child = fork();  // the limit cannot be raised again
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Nursery nursery(kMiB);
    nursery.soil();
    ZeroingAhead ahead(settings(true, kBlock));
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    setrlimit(RLIMIT_AS, &none);  // no room for a stack
    std::string reason;
    const bool started = ahead.start(reason);
    ahead.open(nursery.memory());
    const auto taken = ahead.take(nursery.memory().data(), kMiB);
    ahead.close();
    const bool zero = holds(nursery.memory(), std::byte{0});
    const bool named = reason.starts_with("the thread that zeroes ahead cannot be started: ");
    _exit((started ? 1 : 0) | (taken.zeroed == Bytes(kMiB) && zero ? 0 : 2) | (named ? 0 : 4));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace memgraft::zeroing::testing
