#include "budget.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace memgraft::observation {
namespace {

constexpr std::uint64_t kMicrosecond = 1000;
constexpr std::uint64_t kSecond = 1'000'000'000;

// A program that touches all that is guarded before the next round.
struct Simulated {
  double share;
  std::uint64_t fixed;
  std::uint64_t guarding;  // a page
  std::uint64_t touching;
  std::uint64_t pages_most = UINT64_MAX;  // a second

  std::uint64_t used = 0;
  std::uint64_t pages = 0;
  std::uint64_t rounds = 0;

  void run(std::uint64_t nanoseconds) {
    Budget budget(share);
    std::uint64_t guarded = 0;
    std::uint64_t rest = Budget::kRound;
    for (std::uint64_t now = rest; now < nanoseconds; now += rest) {
      budget.earn(rest);
      budget.see_touch(touching);
      const std::uint64_t pages_now = std::min(budget.pages(0), pages_most * rest / kSecond);
      budget.see_guarding(pages_now, pages_now * guarding);
      const std::uint64_t used_now = fixed + (pages_now * guarding) + (guarded * budget.touch());
      budget.spend(used_now);
      used += used_now;
      pages += pages_now;
      guarded = pages_now;
      ++rounds;
      rest = budget.rest(fixed);
    }
  }
};

TEST(Budget, IsUsedButNotExceeded) {
  for (const double share : {0.001, 0.005, 0.05}) {
    for (const std::uint64_t fixed : {10 * kMicrosecond, 300 * kMicrosecond, 2000 * kMicrosecond}) {
      Simulated one{
          .share = share, .fixed = fixed, .guarding = 4 * kMicrosecond, .touching = 6 * kMicrosecond};
      one.run(100 * kSecond);
      const double used = static_cast<double>(one.used) / (100 * kSecond);
      EXPECT_LE(used, 1.1 * share) << "share " << share << ", fixed " << fixed;
      EXPECT_GE(used, 0.7 * share) << "share " << share << ", fixed " << fixed;
      // At least a half of it is for pages.
      EXPECT_GE(one.pages * 10 * kMicrosecond, one.used / 2) << "share " << share << ", fixed " << fixed;
    }
  }
}

TEST(Budget, PaysForTouches) {
  Simulated cheap{.share = 0.005, .fixed = 0, .guarding = 4 * kMicrosecond, .touching = kMicrosecond};
  Simulated dear{.share = 0.005, .fixed = 0, .guarding = 4 * kMicrosecond, .touching = 46 * kMicrosecond};
  cheap.run(100 * kSecond);
  dear.run(100 * kSecond);
  EXPECT_NEAR(static_cast<double>(cheap.pages) / static_cast<double>(dear.pages), 10, 1);
}

TEST(Budget, RoundsAreTenASecondWhereItIsEnough) {
  Simulated one{.share = 0.005,
                .fixed = 50 * kMicrosecond,
                .guarding = 2 * kMicrosecond,
                .touching = 2 * kMicrosecond,
                .pages_most = 500};
  one.run(10 * kSecond);
  EXPECT_EQ(one.rounds, 99U);
  EXPECT_NEAR(static_cast<double>(one.pages), 99 * 50, 10) << "the first round does not know what pages cost";
}

TEST(Budget, IsNotSavedForLong) {
  Budget budget(0.005);
  budget.earn(Budget::kRoundMost);
  const std::uint64_t saved = budget.pages(0);
  EXPECT_GT(saved, 0U);
  budget.earn(100 * kSecond);
  EXPECT_EQ(budget.pages(0), saved);
}

TEST(Budget, PagesThatAreGuardedWillCost) {
  Budget budget(0.005);
  budget.earn(kSecond);
  EXPECT_LT(budget.pages(100), budget.pages(0));
  EXPECT_EQ(budget.pages(1'000'000), 0U);
}

TEST(Budget, OneTouchThatWasInterruptedCountsForLittle) {
  Budget budget(0.005);
  for (int i = 0; i < 20; ++i) {
    budget.see_touch((i % 3 == 0 ? 5000 : 5) * kMicrosecond);
  }
  EXPECT_EQ(budget.touch(), 5 * kMicrosecond);
}

TEST(Budget, DebtIsRestedFrom) {
  Budget budget(0.01);
  budget.spend(10'000 * kMicrosecond);
  EXPECT_EQ(budget.rest(0), kSecond);
  budget.earn(kSecond);
  EXPECT_EQ(budget.rest(0), Budget::kRound);
  budget.spend(kSecond);
  EXPECT_EQ(budget.rest(0), Budget::kRoundMost);
}

}  // namespace
}  // namespace memgraft::observation
