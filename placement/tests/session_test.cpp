#include "memgraft/placement/session.h"

#include <gtest/gtest.h>

#include <utility>

#include "fake_machine.h"

namespace memgraft::placement {
namespace {

constexpr std::uint64_t kBase = 0x7f0000000000;
std::uint64_t page(std::uint64_t number) { return kBase + (number * kPageBytes); }

class Placing : public testing::Test {
 protected:
  void SetUp() override {
    write_nodes(root_, 2);
    for (std::uint64_t number = 0; number < 100; ++number) {
      kernel_.pages[page(number)] = 0;
    }
  }
  void start(bool dry_run = false, double observing_cpu = kAllItWants) {
    topology_ = Topology::of_system(root_.path());
    session_ = std::make_unique<Session>(
        kProcess, topology_, monitor_,
        Plans{.settings = {}, .dry_run = dry_run, .observing_cpu = observing_cpu, .root = root_.path()},
        kernel_);
  }
  Interval end() {
    session_->drain();
    return session_->end_interval();
  }
  // Each page five times: the first ones from node 0, the others from node 1.
  void touch_halves(std::uint64_t of_first = 50) {
    for (std::uint64_t number = 0; number < 100; ++number) {
      monitor_.touch(page(number), number < of_first ? 0 : 1, 5);
    }
  }
  static std::uint64_t refused(const Interval& interval, Outcome outcome) {
    return interval.outcomes.at(static_cast<std::size_t>(outcome));
  }

  linux_os::FakeRoot root_;
  Topology topology_;
  FakeKernel kernel_;
  FakeMonitor monitor_;
  std::unique_ptr<Session> session_;
};

TEST_F(Placing, CountsAccessesByTheNodesOfThreadAndMemory) {
  start();
  kernel_.pages[page(1)] = 1;
  monitor_.touch(page(0) + 123, 0, 2);
  monitor_.touch(page(1), 0);
  monitor_.touch(page(1), 1, 4);
  monitor_.touch(page(5000), 1);  // nowhere
  monitor_.touch(page(0), 17);    // by no CPU that we know
  monitor_.lost_ = 9;
  const Interval first = end();
  EXPECT_EQ(first.number, 1U);
  EXPECT_EQ(first.accesses, (Matrix{{2, 1}, {0, 4}}));
  EXPECT_EQ(first.samples, 9U);
  EXPECT_EQ(first.unknown, 2U);
  EXPECT_EQ(first.lost, 9U);
  EXPECT_EQ(end().samples, 0U);
}

// After a drain that took more CPU time than is saved up, every other touch is taken, then every fourth.
TEST_F(Placing, LosesTouchesBeyondWhatObservingMayTake) {
  for (const bool enough : {true, false}) {
    start(false, enough ? kAllItWants : 1e-12);
    monitor_.takes_nanoseconds = 60'000'000;
    for (const std::uint64_t lost : {0U, 4U, 6U}) {
      monitor_.touch(page(0), 0, 8);
      const Interval interval = end();
      EXPECT_EQ(interval.lost, enough ? 0U : lost);
      EXPECT_EQ(interval.samples, 8U - interval.lost);
    }
  }
}

TEST_F(Placing, MovesPagesToWhoUsesThem) {
  start();
  touch_halves();
  const Interval first = end();
  EXPECT_EQ(first.moved, (Matrix{{0, 50}, {0, 0}}));
  EXPECT_EQ(first.accesses, (Matrix{{250, 0}, {250, 0}})) << "as it was when they were read";
  EXPECT_EQ(kernel_.pages[page(50)], 1);
  EXPECT_EQ(kernel_.pages[page(49)], 0);
  monitor_.touch(page(50), 1);
  EXPECT_EQ(end().accesses, (Matrix{{0, 0}, {0, 1}}));
}

TEST_F(Placing, ADryRunMovesNothingAndProposesOnce) {
  start(/*dry_run=*/true);
  for (int interval = 0; interval < 3; ++interval) {
    monitor_.touch(page(1), 1, 9);
    EXPECT_EQ(end().moved[0][1], interval == 0 ? 1U : 0U) << interval;
  }
  EXPECT_EQ(kernel_.moves, 0U);
}

TEST_F(Placing, APageWhoseHintFaultIsPendingMovesAtItsNextTouch) {
  start();
  monitor_.touch(page(1), 1, 9);
  session_->drain();
  kernel_.absent.insert(page(1));
  const Interval first = session_->end_interval();
  EXPECT_EQ(first.waiting, 1U);
  EXPECT_EQ(refused(first, Outcome::absent), 1U);
  kernel_.absent.clear();
  monitor_.touch(page(1), 1);
  session_->drain();
  EXPECT_EQ(kernel_.pages[page(1)], 1) << "before the interval's end";
  EXPECT_EQ(session_->end_interval().moved[0][1], 1U);
}

TEST_F(Placing, ABusyPageIsTriedAgainButNotForEver) {
  start();
  kernel_.busy.insert(page(1));
  std::uint64_t tried = 0;
  for (int interval = 0; interval < 10; ++interval) {
    monitor_.touch(page(1), 1, 9);
    tried += refused(end(), Outcome::busy);
  }
  EXPECT_EQ(tried, 5U);
}

TEST_F(Placing, APageSharedWithOtherProcessesIsLeftAlone) {
  start();
  kernel_.shared.insert(page(1));
  std::uint64_t tried = 0;
  for (int interval = 0; interval < 8; ++interval) {
    monitor_.touch(page(1), 1, 9);
    tried += refused(end(), Outcome::forbidden);
  }
  EXPECT_EQ(tried, 1U);
}

TEST_F(Placing, AFullNodeIsTriedAgainAfterAnInterval) {
  start();
  kernel_.room[1] = 0;
  monitor_.touch(page(1), 1, 9);
  EXPECT_EQ(refused(end(), Outcome::no_memory), 1U);
  kernel_.room.clear();
  monitor_.touch(page(1), 1, 9);
  EXPECT_EQ(end().held.at(static_cast<std::size_t>(Stay::forbidden)), 1U);
  monitor_.touch(page(1), 1, 9);
  EXPECT_EQ(end().moved[0][1], 1U);
}

TEST_F(Placing, ANodeOutsideOfTheCpusetIsNoTarget) {
  root_.write("/proc/77/status", "Mems_allowed_list:\t0\n");
  start();
  monitor_.touch(page(1), 1, 9);
  EXPECT_EQ(end().held.at(static_cast<std::size_t>(Stay::forbidden)), 1U);
  EXPECT_EQ(kernel_.moves, 0U);
}

TEST_F(Placing, ANodeWithoutMemoryToSpareIsNoTarget) {
  root_.write("/sys/devices/system/node/node1/meminfo",
              "Node 1 MemTotal: 1000000 kB\nNode 1 MemFree: 30000 kB\n");
  start();
  monitor_.touch(page(1), 1, 9);
  EXPECT_EQ(end().held.at(static_cast<std::size_t>(Stay::forbidden)), 1U);
}

TEST_F(Placing, TheEndOfTheProcessIsNoError) {
  start();
  monitor_.touch(page(1), 1, 9);
  session_->drain();
  kernel_.error = ESRCH;
  EXPECT_EQ(session_->end_interval().moved, (Matrix{{0, 0}, {0, 0}}));
  EXPECT_EQ(session_->access(), Access::ended);
}

TEST_F(Placing, AHugePageIsOnePlace) {
  root_.write("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n");
  root_.write(
      "/proc/77/smaps",
      "7f0000000000-7f0000400000 rw-p 00000000 00:00 0\nKernelPageSize: 4 kB\nAnonHugePages: 4096 kB\n");
  start();
  monitor_.touch(page(3), 1, 4);
  monitor_.touch(page(511), 1, 4);
  const Interval first = end();
  EXPECT_EQ(first.pages, 512U);
  EXPECT_EQ(first.moved[0][1], 512U);
  EXPECT_EQ(kernel_.pages[page(0)], 1);
}

class PlacingParts : public Placing {
 protected:
  void SetUp() override {
    Placing::SetUp();
    root_.write("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n");
    monitor_.sees_.splits = true;
  }
  void map(bool joined) {
    root_.write("/proc/77/smaps",
                std::string("7f0000000000-7f0000200000 rw-p 00000000 00:00 0\nKernelPageSize: 4 kB\n") +
                    "AnonHugePages: " + (joined ? "2048" : "0") + " kB\n");
  }
};

TEST_F(PlacingParts, PartsOfAHugePageMoveWhenItIsSplit) {
  map(true);
  start();
  monitor_.touch(page(3), 1, 4);
  const Interval joined = end();
  EXPECT_EQ(joined.pages, 1U);
  EXPECT_EQ(joined.waiting, 1U);
  EXPECT_EQ(kernel_.moves, 0U);
  map(false);
  EXPECT_EQ(end().moved[0][1], 1U);
}

// A touch is seen after it was split, whatever the list of mappings said before.
TEST_F(PlacingParts, OrWhenTheyAreTouched) {
  map(true);
  start();
  monitor_.touch(page(3), 1, 4);
  EXPECT_EQ(end().waiting, 1U);
  monitor_.touch(page(3), 1);
  EXPECT_EQ(end().moved[0][1], 1U);
}

TEST_F(PlacingParts, PartsOfSeveralNodesMoveWhenNothingJoinsThemAgain) {
  map(false);
  start();
  touch_halves();
  monitor_.has_place = false;
  EXPECT_EQ(end().waiting, 50U);
  EXPECT_EQ(monitor_.apart, (std::vector<std::uint64_t>{}));
  monitor_.has_place = true;
  EXPECT_EQ(end().waiting, 50U);
  EXPECT_EQ(monitor_.apart, (std::vector<std::uint64_t>{kBase})) << "asked again";
  EXPECT_EQ(kernel_.moves, 0U);
  EXPECT_EQ(end().moved[0][1], 50U);
  EXPECT_EQ(monitor_.apart.size(), 1U) << "was asked";
}

// The program has unmapped it and mapped it again, say.
TEST_F(PlacingParts, WhatLinuxJoinedAllTheSameIsAskedForAgain) {
  map(false);
  start();
  touch_halves();
  end();
  EXPECT_EQ(monitor_.apart.size(), 1U);
  map(true);
  EXPECT_EQ(end().waiting, 50U);
  EXPECT_EQ(monitor_.apart.size(), 1U) << "the monitor has to split it first";
  map(false);
  end();
  EXPECT_EQ(monitor_.apart.size(), 2U);
  EXPECT_EQ(end().moved[0][1], 50U);
}

// Linux maps them one by one and has them as a huge page all the same: nothing in smaps says so.
TEST_F(PlacingParts, ThoseThatMoveTogetherWaitUntilTheyAreSplit) {
  map(false);
  start();
  kernel_.huge = {kBase};
  touch_halves();
  end();
  EXPECT_EQ(monitor_.apart.size(), 1U);
  Interval tried = end();
  EXPECT_EQ(kernel_.moves, 1U);
  EXPECT_EQ(tried.moved[0][1], 1U);
  EXPECT_EQ(monitor_.apart, (std::vector<std::uint64_t>{kBase, kBase})) << "asked again";
  touch_halves();
  tried = end();
  EXPECT_EQ(tried.accesses[0][1], 250U) << "it is known where the others went";
  EXPECT_EQ(kernel_.moves, 1U) << "neither at the touches nor at the end";
  kernel_.huge.clear();
  touch_halves();
  end();
  EXPECT_EQ(kernel_.moves, 51U);
  for (std::uint64_t number = 0; number < 100; ++number) {
    EXPECT_EQ(kernel_.pages[page(number)], number < 50 ? 0 : 1) << number;
  }
}

// Locked memory is one case.
TEST_F(PlacingParts, ThoseThatCannotBeSplitAreTriedLessAndLessOften) {
  map(false);
  for (const std::uint64_t of_first : {50U, 5U, 95U}) {
    kernel_.moves = 0;
    kernel_.huge = {kBase};
    start();
    for (unsigned interval = 0; interval < 100; ++interval) {
      touch_halves(of_first);
      end();
    }
    EXPECT_GE(kernel_.moves, 2U) << of_first;
    EXPECT_LE(kernel_.moves, 7U) << of_first;
  }
}

TEST_F(PlacingParts, ThoseThatMovedOneByOneAreTriedAgainWhenLinuxHasJoinedThem) {
  map(false);
  start();
  touch_halves();
  end();
  end();
  EXPECT_EQ(kernel_.moves, 50U);
  for (std::uint64_t number = 0; number < 25; ++number) {
    monitor_.touch(page(number), 1, 40);
  }
  kernel_.huge = {kBase};
  map(true);
  end();
  map(false);
  end();
  end();
  EXPECT_EQ(kernel_.moves, 51U);
}

// Whether they move as one is not to be seen where the others lie there already.
TEST_F(PlacingParts, WhatMovesToTheOthersProvesNothing) {
  map(false);
  start();
  kernel_.pages[page(1)] = 1;
  kernel_.pages[page(2)] = 1;
  monitor_.touch(page(0), 1, 5);
  monitor_.touch(page(1), 1, 5);
  monitor_.touch(page(2), 0, 5);
  end();
  EXPECT_EQ(end().moved, (Matrix{{0, 1}, {0, 0}}));
  EXPECT_EQ(monitor_.apart, (std::vector<std::uint64_t>{kBase})) << "nor that they do";
  kernel_.huge = {kBase};
  end();
  EXPECT_EQ(monitor_.apart, (std::vector<std::uint64_t>{kBase, kBase})) << "which is seen at the next";
}

TEST_F(PlacingParts, AMoveThatIsRefusedProvesNothing) {
  map(false);
  start();
  touch_halves();
  for (std::uint64_t number = 0; number < 100; ++number) {
    kernel_.busy.insert(page(number));
  }
  end();
  EXPECT_EQ(refused(end(), Outcome::busy), 1U);
  kernel_.busy.clear();
  kernel_.huge = {kBase};
  end();
  EXPECT_EQ(kernel_.moves, 1U);
}

TEST_F(PlacingParts, ThoseThatOneNodeUsesMayBe) {
  map(false);
  start();
  for (std::uint64_t number = 0; number < 100; ++number) {
    monitor_.touch(page(number), 1, 5);
  }
  EXPECT_EQ(end().moved[0][1], 100U);
  EXPECT_EQ(monitor_.apart, (std::vector<std::uint64_t>{}));
}

TEST_F(Placing, WhatIsUnmappedIsForgotten) {
  const std::string both =
      "7f0000000000-7f0000001000 rw-p 00000000 00:00 0\n7f0000001000-7f0000002000 rw-p 00000000 00:00 0 "
      "[heap]\n";
  root_.write("/proc/77/smaps", both);
  start();
  monitor_.touch(page(0), 0, 4);
  monitor_.touch(page(1), 0, 4);
  EXPECT_EQ(end().pages, 2U);
  root_.write("/proc/77/smaps", both.substr(0, both.find('\n') + 1));
  EXPECT_EQ(end().pages, 1U);
}

}  // namespace
}  // namespace memgraft::placement
