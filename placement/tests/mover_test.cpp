#include "memgraft/placement/mover.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "fake_machine.h"

namespace memgraft::placement {
namespace {

class Moving : public testing::Test {
 protected:
  void SetUp() override {
    write_nodes(root_, 3);
    topology_ = Topology::of_system(root_.path());
    for (std::uint64_t page = 0; page < 5000; ++page) {
      kernel_.pages[page * kPageBytes] = 0;
    }
  }
  std::vector<Outcome> move(std::uint64_t first, std::uint64_t count, std::size_t to = 1) {
    std::vector<Move> moves;
    for (std::uint64_t page = first; page < first + count; ++page) {
      moves.push_back({.address = page * kPageBytes, .from = 0, .to = to});
    }
    std::vector<Outcome> outcomes;
    access_ = mover_.move(moves, outcomes);
    return outcomes;
  }
  static std::size_t many(const std::vector<Outcome>& outcomes, Outcome which) {
    return static_cast<std::size_t>(std::ranges::count(outcomes, which));
  }

  linux_os::FakeRoot root_;
  Topology topology_;
  FakeKernel kernel_;
  Mover mover_{kProcess, topology_, kernel_};
  Access access_ = Access::granted;
};

TEST_F(Moving, MovesInFewCalls) {
  const auto outcomes = move(0, 5000, 2);
  EXPECT_EQ(many(outcomes, Outcome::moved), 5000U);
  EXPECT_EQ(kernel_.pages[4999 * kPageBytes], 2);
  EXPECT_LE(kernel_.calls, 10U);
}

TEST_F(Moving, SaysOfEachPageWhatBecameOfIt) {
  kernel_.absent.insert(1 * kPageBytes);
  kernel_.shared.insert(2 * kPageBytes);
  kernel_.pages.erase(3 * kPageBytes);
  const auto outcomes = move(0, 5);
  EXPECT_EQ(outcomes, (std::vector{Outcome::moved, Outcome::absent, Outcome::forbidden, Outcome::other,
                                   Outcome::moved}));
}

TEST_F(Moving, APageThatIsBusyIsInNobodysWay) {
  for (const std::uint64_t page : {0U, 17U, 18U, 500U, 999U}) {
    kernel_.busy.insert(page * kPageBytes);
  }
  kernel_.absent.insert(400 * kPageBytes);
  const auto outcomes = move(0, 1000);
  EXPECT_EQ(many(outcomes, Outcome::busy), 5U);
  EXPECT_EQ(many(outcomes, Outcome::absent), 1U);
  EXPECT_EQ(many(outcomes, Outcome::moved), 994U);
  EXPECT_EQ(outcomes[17], Outcome::busy);
}

TEST_F(Moving, APinnedMappingDoesNotTakeCallsWithoutEnd) {
  for (std::uint64_t page = 0; page < 5000; ++page) {
    kernel_.busy.insert(page * kPageBytes);
  }
  EXPECT_EQ(many(move(0, 5000), Outcome::busy), 5000U);
  EXPECT_LT(kernel_.calls, 700U);
}

TEST_F(Moving, AFullNodeIsLeftAloneUntilItIsCleared) {
  kernel_.room[1] = 1500;
  const auto outcomes = move(0, 5000);
  EXPECT_GT(many(outcomes, Outcome::no_memory), 3000U);
  EXPECT_TRUE(mover_.is_full(1));
  const std::size_t calls = kernel_.calls;
  EXPECT_EQ(many(move(4000, 10), Outcome::no_memory), 10U);
  EXPECT_EQ(kernel_.calls, calls);
  EXPECT_EQ(many(move(4000, 10, 2), Outcome::moved), 10U) << "others go on";
  mover_.clear_full();
  kernel_.room.clear();
  EXPECT_EQ(many(move(4000, 10), Outcome::moved), 10U);
}

TEST_F(Moving, StopsWhenTheProcessHasEnded) {
  kernel_.error = ESRCH;
  move(0, 10);
  EXPECT_EQ(access_, Access::ended);
  kernel_.error = EPERM;
  move(0, 10);
  EXPECT_EQ(access_, Access::denied);
}

TEST_F(Moving, TellsWherePagesAre) {
  kernel_.pages[kPageBytes] = 2;
  kernel_.pages[2 * kPageBytes] = 9;  // no node that we know
  kernel_.absent.insert(3 * kPageBytes);
  std::array<int, 4> nodes{};
  EXPECT_EQ(mover_.places(std::array<std::uint64_t, 4>{0, kPageBytes, 2 * kPageBytes, 3 * kPageBytes}, nodes),
            Access::granted);
  EXPECT_EQ(nodes, (std::array{0, 2, kUnknown, kUnknown}));
}

// The kernel's own, of this process: it has one node at least, to which its pages can be moved.
TEST(RealMoving, PagesOfThisProcessAreWhereTheyAre) {
  constexpr std::size_t kPages = 8;
  void* const memory =
      mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const bytes = static_cast<volatile char*>(memory);
  std::vector<std::uint64_t> addresses;
  for (std::size_t page = 0; page < kPages; ++page) {
    bytes[page * kPageBytes] = 1;
    addresses.push_back(reinterpret_cast<std::uint64_t>(memory) + (page * kPageBytes));
  }
  const Topology topology = Topology::of_system();
  Mover mover(getpid(), topology);
  std::vector<int> nodes(kPages, 0);
  const Access access = mover.places(addresses, nodes);
  if (access == Access::none || access == Access::denied) {
    GTEST_SKIP() << "no move_pages(2) here: a sandbox, or a kernel without NUMA";
  }
  EXPECT_EQ(access, Access::granted);
  EXPECT_EQ(std::ranges::count(nodes, kUnknown), 0) << "they were just touched";
  munmap(memory, kPages * kPageBytes);
  EXPECT_EQ(mover.places(addresses, nodes), Access::granted);
  EXPECT_EQ(std::ranges::count(nodes, kUnknown), static_cast<std::ptrdiff_t>(kPages)) << "unmapped";
  EXPECT_EQ(Mover(999'999'999, topology).places(addresses, nodes), Access::ended);
}

}  // namespace
}  // namespace memgraft::placement
