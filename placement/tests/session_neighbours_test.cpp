// Pages that nobody was seen to touch, and that move for the touches of those around them.
#include <gtest/gtest.h>

#include <string>

#include "fake_machine.h"
#include "memgraft/placement/session.h"

namespace memgraft::placement {
namespace {

constexpr std::uint64_t kBase = 0x7f0000000000;
constexpr std::uint64_t page(std::uint64_t number) { return kBase + (number * kPageBytes); }

class PlacingNeighbours : public testing::Test {
 protected:
  // Two times 2 MiB of anonymous memory, then as much of a file; every page is there.
  void SetUp() override {
    write_nodes(root_, 2);
    root_.write("/proc/77/maps",
                "7f0000000000-7f0000400000 rw-p 00000000 00:00 0\n"
                "7f0000400000-7f0000600000 rw-p 00000000 fe:00 7 /some/file\n");
    for (std::uint64_t number = 0; number < 1536; ++number) {
      kernel_.pages[page(number)] = 0;
    }
  }
  void start(std::size_t most_pages = Profile::kDefaultMost, bool dry_run = false,
             double observing_cpu = kAllItWants) {
    topology_ = Topology::of_system(root_.path());
    Settings settings;
    settings.must_pay = false;  // so many pages for so few touches
    session_ = std::make_unique<Session>(kProcess, topology_, monitor_,
                                         Plans{.settings = settings,
                                               .dry_run = dry_run,
                                               .observing_cpu = observing_cpu,
                                               .most_pages = most_pages,
                                               .root = root_.path()},
                                         kernel_);
  }
  Interval end() {
    session_->drain();
    return session_->end_interval();
  }
  // One of each 32 pages, from node 1: 16 touches of 2 MiB.
  void touch(std::uint64_t first) {
    for (std::uint64_t number = first; number < first + 512; number += 32) {
      monitor_.touch(page(number), 1);
    }
  }

  linux_os::FakeRoot root_;
  Topology topology_;
  FakeKernel kernel_;
  FakeMonitor monitor_;
  std::unique_ptr<Session> session_;
};

TEST_F(PlacingNeighbours, TouchedPagesMoveFirstAndThoseBetweenThemNext) {
  start();
  touch(0);
  const Interval first = end();
  EXPECT_EQ(first.moved[0][1], 16U);
  EXPECT_EQ(first.moved_by_neighbours, 16U);
  EXPECT_EQ(first.pages, 512U);
  const Interval second = end();
  EXPECT_EQ(second.moved[0][1], 512U - 16);
  EXPECT_EQ(second.moved_by_neighbours, 512U - 16);
  for (std::uint64_t number = 0; number < 1536; ++number) {
    EXPECT_EQ(kernel_.pages[page(number)], number < 512 ? 1 : 0);
  }
  EXPECT_EQ(sum(end().moved), 0U);
}

TEST_F(PlacingNeighbours, WhatIsNotThereIsNotRemembered) {
  kernel_.pages.erase(page(7));
  kernel_.absent.insert(page(8));
  start();
  touch(0);
  EXPECT_EQ(end().pages, 510U);
  EXPECT_EQ(end().moved[0][1], 510U - 16);
}

TEST_F(PlacingNeighbours, WhatIsOfAnotherFileIsNoNeighbour) {
  root_.write("/proc/77/maps",
              "7f0000000000-7f0000100000 rw-p 00000000 00:00 0\n"
              "7f0000100000-7f0000200000 rw-p 00000000 fe:00 7 /some/file\n");
  start();
  for (std::uint64_t number = 0; number < 256; number += 32) {
    monitor_.touch(page(number), 1);
  }
  EXPECT_EQ(end().pages, 256U);
  EXPECT_EQ(end().moved[0][1], 256U - 8);
}

TEST_F(PlacingNeighbours, WhatIsBehindAGapIsNoNeighbour) {
  root_.write("/proc/77/maps",
              "7f0000000000-7f0000020000 rw-p 00000000 00:00 0\n"
              "7f0000021000-7f0000100000 rw-p 00000000 00:00 0\n"
              "7f0000100000-7f0000101000 ---p 00000000 00:00 0\n"
              "7f0000101000-7f0000180000 rw-p 00000000 00:00 0\n"
              "7f0000181000-7f0000200000 rw-p 00000000 00:00 0\n");
  start();
  for (std::uint64_t number = 48; number < 384; number += 32) {
    monitor_.touch(page(number), 1);
  }
  EXPECT_EQ(end().pages, 384U - 33) << "all from 33 to 383, of which the sampler may have guarded one";
  EXPECT_EQ(end().moved[0][1], 384U - 33 - 11);
}

TEST_F(PlacingNeighbours, AreLookedForOnceInAWhile) {
  kernel_.pages.erase(page(7));
  start();
  touch(0);
  end();
  kernel_.pages[page(7)] = 0;
  for (int interval = 2; interval < 61; ++interval) {
    EXPECT_EQ(end().moved_by_neighbours, interval == 2 ? 511U - 16 : 0U);
    EXPECT_FALSE(session_->profile().find(page(7)));
  }
  for (std::uint64_t number = 1; number < 512; number += 4) {
    monitor_.touch(page(number), 0);
  }
  EXPECT_GT(end().moved_by_neighbours, 0U) << "back";
  EXPECT_TRUE(session_->profile().find(page(7)));
}

TEST_F(PlacingNeighbours, LeaveHalfOfTheProfileToTouchedPages) {
  start(1055);
  touch(0);
  EXPECT_EQ(end().pages, 16U);
  start(1056);
  touch(512);
  EXPECT_EQ(end().pages, 512U);
}

TEST_F(PlacingNeighbours, OfHugePagesAreNone) {
  root_.write("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n");
  root_.write("/proc/77/smaps",
              "7f0000000000-7f0000400000 rw-p 00000000 00:00 0\n"
              "AnonHugePages:      4096 kB\n");
  start();
  touch(0);
  const Interval first = end();
  EXPECT_EQ(first.pages, 512U) << "one page";
  EXPECT_EQ(first.moved_by_neighbours, 0U);
}

// What is saved up at the beginning does for some decisions, and no more comes.
TEST_F(PlacingNeighbours, AreHeededAsOftenAsTheirBudgetGoes) {
  start(Profile::kDefaultMost, /*dry_run=*/true, 1e-12);
  for (std::uint64_t number = 0; number < 1536; ++number) {
    monitor_.touch(page(number), 1);
  }
  session_->drain();
  const auto few = [&] { return session_->end_interval().held.at(static_cast<std::size_t>(Stay::few)); };
  EXPECT_EQ(few(), 0U);
  std::uint64_t found = 0;
  while (found == 0) {
    found = few();
  }
  EXPECT_EQ(found, 1536U);
}

TEST_F(PlacingNeighbours, ADryRunProposesThemToo) {
  start(Profile::kDefaultMost, /*dry_run=*/true);
  touch(0);
  EXPECT_EQ(end().moved_by_neighbours, 16U);
  EXPECT_EQ(end().moved_by_neighbours, 512U - 16);
  EXPECT_EQ(end().moved_by_neighbours, 0U);
  EXPECT_EQ(kernel_.moves, 0U);
}

}  // namespace
}  // namespace memgraft::placement
