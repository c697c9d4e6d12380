#include "memgraft/placement/profile.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <unordered_map>

namespace memgraft::placement {
namespace {

void touch(Profile& profile, std::uint64_t page, std::size_t node, int times = 1) {
  for (int i = 0; i < times; ++i) {
    profile.count({.address = page * kPageBytes, .node = node, .thread = 7, .store = std::nullopt});
  }
}

std::vector<float> touches_of(const Profile& profile, std::uint64_t page) {
  const auto place = profile.find(page * kPageBytes);
  if (!place) {
    return {};
  }
  const auto touches = profile.touches(*place);
  return {touches.begin(), touches.end()};
}

TEST(Profile, CountsTouchesByPageAndNode) {
  Profile profile(3);
  touch(profile, 1, 0, 2);
  touch(profile, 1, 2);
  touch(profile, 9, 1);
  EXPECT_EQ(touches_of(profile, 1), (std::vector<float>{2, 0, 1}));
  EXPECT_EQ(touches_of(profile, 9), (std::vector<float>{0, 1, 0}));
  EXPECT_FALSE(profile.find(2 * kPageBytes));
}

TEST(Profile, KeepsTheLastThreadAndStoresApart) {
  Profile profile(1);
  profile.count({.address = 0, .node = 0, .thread = 1, .store = true});
  const Page& page = profile.count({.address = 0, .node = 0, .thread = 2, .store = false});
  EXPECT_EQ(page.last_thread, 2U);
  EXPECT_EQ(page.stores, 1);
}

// Pages that are watched for a part of the time only: it is what their touches are from.
TEST(Profile, AddsUpForHowLongASampledPageWasWatched) {
  Profile profile(1);
  const auto sample = [&](float watched) {
    profile.count({.address = 0, .node = 0, .store = std::nullopt, .watched = watched});
    profile.age();
  };
  sample(0.25F);
  EXPECT_EQ(profile.pages()[0].span, 0.25F);
  profile.age();
  sample(0.5F);
  EXPECT_EQ(profile.pages()[0].span, 0.75F);
  for (int i = 0; i < 40; ++i) {
    sample(0.1F);
  }
  EXPECT_NEAR(touches_of(profile, 0)[0] / profile.pages()[0].span, 10, 0.1) << "touches in an interval";
}

TEST(Profile, APageThatNobodyTouchedIsWatchedAsAnother) {
  Profile profile(1, 16);
  profile.count({.address = 0, .node = 0, .store = std::nullopt, .watched = 0.25F});
  EXPECT_EQ(profile.add_untouched(kPageBytes, profile.pages()[0]).span, 0);
  EXPECT_EQ(profile.add_untouched(0, profile.pages()[0]).span, 0.25F) << "it is there";
  touch(profile, 2, 0);
  profile.age();
  profile.age();
  EXPECT_EQ(profile.add_untouched(3 * kPageBytes, profile.pages()[2]).span, 3);
  profile.age();
  EXPECT_EQ(profile.pages()[1].span, 0);
  EXPECT_EQ(profile.pages()[3].span, 4);
  for (std::uint64_t page = 10; page < 23; ++page) {
    touch(profile, page, 0);
  }
  EXPECT_FALSE(profile.find(kPageBytes)) << "the first to make room";
}

TEST(Profile, HalvesTouchesAndTheirSpanInEachInterval) {
  Profile profile(2);
  for (int interval = 0; interval < 20; ++interval) {
    touch(profile, 1, 0, 8);
    touch(profile, 1, 1, 4);
    profile.age();
  }
  touch(profile, 1, 0, 8);
  touch(profile, 1, 1, 4);
  const Page& page = profile.pages()[0];
  EXPECT_NEAR(touches_of(profile, 1)[0] / page.span, 8, 0.01) << "the rate is kept";
  EXPECT_NEAR(touches_of(profile, 1)[1] / page.span, 4, 0.01);
  EXPECT_NEAR(page.span, 2, 0.01) << "the older intervals count no more than the newest";
}

TEST(Profile, KeepsFewTouchesUntilSomethingFollowsFromThem) {
  Profile profile(1);
  for (int interval = 0; interval < 4; ++interval) {
    touch(profile, 1, 0);
    profile.age();
  }
  EXPECT_EQ(touches_of(profile, 1)[0], 4);
  EXPECT_EQ(profile.pages()[0].span, 5);
}

TEST(Profile, ShowsAPhaseChangeWithinTwoIntervals) {
  Profile profile(2);
  for (int interval = 0; interval < 50; ++interval) {
    touch(profile, 1, 0, 20);
    profile.age();
  }
  touch(profile, 1, 1, 20);
  profile.age();
  touch(profile, 1, 1, 20);
  EXPECT_GT(touches_of(profile, 1)[1], 2 * touches_of(profile, 1)[0]);
}

TEST(Profile, ForgetsTheColdestAndSaysSo) {
  Profile profile(1, 32);
  for (std::uint64_t page = 0; page < 32; ++page) {
    touch(profile, page, 0, page == 3 ? 1 : 2);
  }
  profile.age();
  for (std::uint64_t page = 0; page < 32; ++page) {
    if (page != 5) {
      touch(profile, page, 0);
    }
  }
  touch(profile, 100, 0);
  EXPECT_FALSE(profile.find(5 * kPageBytes)) << "not touched for the longest time";
  EXPECT_FALSE(profile.find(3 * kPageBytes)) << "of the others the least";
  EXPECT_TRUE(profile.find(100 * kPageBytes));
  EXPECT_EQ(profile.forgotten(), 2U);
}

TEST(Profile, NeverHoldsMoreThanItMay) {
  Profile profile(2, 1000);
  for (std::uint64_t page = 0; page < 50'000; ++page) {
    touch(profile, page, page % 2);
    ASSERT_LE(profile.pages().size(), 1000U);
  }
  EXPECT_EQ(profile.forgotten() + profile.pages().size(), 50'000U);
}

// Against the simplest thing that can be right.
TEST(Profile, FindsWhatAMapFinds) {
  constexpr std::uint64_t kPages = 3000;
  std::mt19937 random(1);
  Profile profile(2);
  std::unordered_map<std::uint64_t, std::vector<float>> model;
  for (int step = 0; step < 60'000; ++step) {
    // Neighbours, and pages that are far from each other by powers of 2.
    const std::uint64_t chosen = random() % kPages;
    const std::uint64_t page = chosen % 2 == 0 ? chosen : chosen << (random() % 2 * 20);
    if (random() % 4 == 0) {
      if (const auto place = profile.find(page * kPageBytes)) {
        profile.forget(*place);
      }
      model.erase(page);
    } else {
      const std::size_t node = random() % 2;
      touch(profile, page, node);
      model.try_emplace(page, std::vector<float>(2, 0)).first->second[node] += 1;
    }
  }
  ASSERT_EQ(profile.pages().size(), model.size());
  for (const auto& [page, touches] : model) {
    ASSERT_EQ(touches_of(profile, page), touches) << page;
  }
}

}  // namespace
}  // namespace memgraft::placement
