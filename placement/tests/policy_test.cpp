#include "memgraft/placement/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace memgraft::placement {
namespace {

constexpr std::uint64_t kPlenty = 1'000'000'000;

// Nodes that are all 20 from each other.
Situation equal_nodes(std::size_t nodes) {
  Situation made;
  made.distances.assign(nodes, std::vector<unsigned>(nodes, 20));
  for (std::size_t node = 0; node < nodes; ++node) {
    made.distances[node][node] = 10;
  }
  made.allowed.assign(nodes, true);
  made.room.assign(nodes, kPlenty);
  made.remaining_intervals = 100;
  return made;
}

class Policy : public testing::Test {
 protected:
  // A page that lies on `node`, and so many touches of each node.
  Page& lies(std::uint64_t page, int node, const std::vector<int>& touches, float accesses = 64) {
    for (std::size_t by = 0; by < touches.size(); ++by) {
      for (int i = 0; i < touches[by]; ++i) {
        profile_.count(
            {.address = page * kPageBytes, .node = by, .store = std::nullopt, .accesses = accesses});
      }
    }
    Page& there = profile_.pages()[*profile_.find(page * kPageBytes)];
    there.node = static_cast<std::int16_t>(node);
    return there;
  }
  Plan decide() { return plan(profile_, situation_, settings_); }
  // Why the page stays; nullopt: it moves.
  std::optional<Stay> why(std::uint64_t page) {
    const Stay stay = decide().stays[*profile_.find(page * kPageBytes)];
    return stay == Stay::moves ? std::nullopt : std::optional(stay);
  }

  Profile profile_{3};
  Situation situation_ = equal_nodes(3);
  Settings settings_;
};

TEST_F(Policy, APageMovesToTheNodeThatTouchesItMost) {
  lies(1, 0, {1, 2, 20});
  const Plan made = decide();
  ASSERT_EQ(made.moves.size(), 1U);
  EXPECT_EQ(made.moves[0].address, kPageBytes);
  EXPECT_EQ(made.moves[0].from, 0U);
  EXPECT_EQ(made.moves[0].to, 2U);
}

TEST_F(Policy, APageThatIsWhereItIsUsedStays) {
  lies(1, 2, {1, 2, 20});
  EXPECT_EQ(why(1), Stay::best);
}

TEST_F(Policy, ATieStays) {
  lies(1, 0, {9, 9, 0});
  EXPECT_EQ(why(1), Stay::best);
}

TEST_F(Policy, TheOtherNodesTouchesAreWeighedWithTheirDistances) {
  // Node 0 touches it most, but 1 and 2 are near each other and far from 0.
  situation_.distances = {{10, 40, 40}, {40, 10, 12}, {40, 12, 10}};
  lies(1, 0, {400, 350, 350});
  const Plan made = decide();
  ASSERT_EQ(made.moves.size(), 1U);
  EXPECT_NE(made.moves[0].to, 0U);
}

TEST_F(Policy, OfNodesThatCostTheSameTheOneThatTouchesItMost) {
  // On node 1: 10 * 20 + 50 * 10 + 60 * 20; on node 2: 10 * 30 + 50 * 20 + 60 * 10.
  situation_.distances = {{10, 20, 30}, {20, 10, 20}, {30, 20, 10}};
  lies(1, 0, {10, 50, 60});
  ASSERT_EQ(decide().moves.size(), 1U);
  EXPECT_EQ(decide().moves[0].to, 2U);
  lies(2, 2, {60, 50, 10});
  ASSERT_EQ(decide().moves.size(), 2U);
  EXPECT_EQ(decide().moves[1].to, 0U);
}

TEST_F(Policy, AMemoryOnlyNodeIsATargetOnlyWhereItIsNearer) {
  // Node 2 has no CPUs; from node 1 it is nearer than node 0.
  situation_.distances = {{10, 30, 30}, {30, 10, 14}, {30, 14, 10}};
  situation_.allowed = {true, false, true};
  lies(1, 0, {0, 50, 0});
  ASSERT_EQ(decide().moves.size(), 1U);
  EXPECT_EQ(decide().moves[0].to, 2U);
}

TEST_F(Policy, AMoveMustSaveItsShare) {
  settings_.doubt = 0;
  lies(1, 0, {40, 60, 0});  // costs 1600, and 1400 on node 1: an eighth less
  EXPECT_EQ(why(1), Stay::share);
  settings_.least_share = 0.12;
  EXPECT_EQ(why(1), std::nullopt);
}

TEST_F(Policy, OfFewTouchesLittleFollows) {
  lies(1, 0, {0, 2, 0});
  EXPECT_EQ(why(1), Stay::few);
  lies(1, 0, {0, 1, 0});
  EXPECT_EQ(why(1), std::nullopt) << "3 touches";
  settings_.doubt = 3;
  EXPECT_EQ(why(1), Stay::few);
}

class WithNeighbours : public Policy {
 protected:
  // Pages with a touch each, of the nodes that `touchers` names in turn; all lie on node 0.
  void lie(std::uint64_t first, std::uint64_t count, const std::vector<std::size_t>& touchers) {
    for (std::uint64_t page = first; page < first + count; ++page) {
      std::vector<int> touches(3, 0);
      touches[touchers[page % touchers.size()]] = 1;
      lies(page, 0, touches);
    }
  }
};

TEST_F(WithNeighbours, FewTouchesDoWhereThoseAroundAgree) {
  lie(512, 7, {1});
  EXPECT_EQ(why(512), Stay::few) << "7 touches in all";
  lie(519, 1, {1});
  for (std::uint64_t page = 512; page < 520; ++page) {
    EXPECT_EQ(why(page), std::nullopt);
  }
  EXPECT_TRUE(decide().moves[0].by_neighbours);
  EXPECT_EQ(decide().moves[0].to, 1U);
  settings_.neighbours = false;
  EXPECT_EQ(why(512), Stay::few);
}

TEST_F(WithNeighbours, ItsOwnTouchesDoWhereTheyAreEnough) {
  lie(512, 16, {1});
  lies(512, 0, {0, 2, 0});
  lies(520, 0, {0, 0, 9});
  lies(521, 0, {4, 0, 0});
  const Plan made = decide();
  const auto move_of = [&](std::uint64_t page) {
    return std::ranges::find(made.moves, page * kPageBytes, &Move::address);
  };
  EXPECT_FALSE(move_of(512)->by_neighbours);
  EXPECT_TRUE(move_of(513)->by_neighbours);
  EXPECT_EQ(move_of(520)->to, 2U);
  EXPECT_EQ(move_of(521), made.moves.end());
  EXPECT_EQ(why(521), Stay::best);
}

TEST_F(WithNeighbours, ThatDisagreeDoNot) {
  lie(512, 64, {0, 1, 2});
  lie(1024, 64, {1, 2});
  for (std::uint64_t page = 512; page < 576; ++page) {
    EXPECT_EQ(why(page), page % 3 == 0 ? Stay::best : Stay::few);
    EXPECT_EQ(why(page + 512), Stay::few);
  }
}

TEST_F(WithNeighbours, APageThatWasTouchedFromElsewhereStays) {
  lie(512, 16, {1});
  lie(528, 1, {2});
  lie(529, 1, {0});
  EXPECT_EQ(why(520), std::nullopt);
  EXPECT_EQ(why(528), Stay::few);
  EXPECT_EQ(why(529), Stay::best);
}

TEST_F(WithNeighbours, TheSmallestBlockWithEnoughTouchesDecides) {
  // 512 to 519 are node 1's, all others of the 2 MiB node 2's.
  lie(512, 512, {2});
  for (std::uint64_t page = 512; page < 520; ++page) {
    profile_.forget(*profile_.find(page * kPageBytes));
  }
  lie(512, 8, {1});
  for (const Move& move : decide().moves) {
    EXPECT_EQ(move.to, move.address / kPageBytes < 520 ? 1U : 2U);
  }
  EXPECT_EQ(decide().moves.size(), 512U);
}

TEST_F(WithNeighbours, ThoseOfTheNext2MiBAreNone) {
  lie(1024 - 7, 14, {1});
  EXPECT_EQ(why(1023), Stay::few);
  EXPECT_EQ(why(1024), Stay::few);
}

TEST_F(WithNeighbours, AnUntouchedPageIsJudgedByThemAlone) {
  lie(512, 8, {1});
  profile_.add_untouched(520 * kPageBytes, {.span = 1}).node = 0;
  profile_.add_untouched(521 * kPageBytes, {.span = 1}).node = 1;
  profile_.add_untouched(2048 * kPageBytes, {.span = 1}).node = 0;
  EXPECT_EQ(why(520), std::nullopt);
  EXPECT_EQ(why(521), Stay::best);
  EXPECT_EQ(why(2048), Stay::few);
}

TEST_F(WithNeighbours, AMoveMustPayForEachOfThePages) {
  // The 8 touches of 4 pages save 52 of their distances for sure, which are 5.2 accesses to the node's own
  // memory. A touch stands for 8 accesses, and each of the pages has a quarter of it all: 1034 ns.
  for (std::uint64_t page = 512; page < 516; ++page) {
    lies(page, 0, {0, 2, 0}, 8);
  }
  situation_.remaining_intervals = 1;
  situation_.move_nanoseconds = 1000;
  EXPECT_EQ(why(512), std::nullopt);
  situation_.move_nanoseconds = 1100;
  EXPECT_EQ(why(512), Stay::payback);
}

TEST_F(WithNeighbours, HugePagesAreNone) {
  lie(512, 7, {1});
  lies(519, 0, {0, 2, 0}).pages = 512;
  EXPECT_EQ(why(512), Stay::few);
  EXPECT_EQ(why(519), Stay::few);
}

TEST_F(Policy, AMoveMustPayInTheRestOfTheRun) {
  // 4 touches, 1 access each: 4 us saved in an interval at most.
  lies(1, 0, {0, 4, 0}, 1);
  situation_.remaining_intervals = 1;
  EXPECT_EQ(why(1), Stay::payback);
  situation_.remaining_intervals = 100;
  EXPECT_EQ(why(1), std::nullopt);
  situation_.move_nanoseconds = 1e6;
  EXPECT_EQ(why(1), Stay::payback);
  settings_.must_pay = false;
  EXPECT_EQ(why(1), std::nullopt) << "the thesis' rule";
}

TEST_F(Policy, ATouchThatStandsForManyAccessesPaysSooner) {
  situation_.remaining_intervals = 1;
  lies(1, 0, {0, 4, 0}, 1000);
  EXPECT_EQ(why(1), std::nullopt);
}

TEST_F(Policy, AHugePageCostsAsManyMovesAsItHasPages) {
  situation_.remaining_intervals = 1;
  Page& page = lies(512, 0, {0, 10, 0});
  EXPECT_EQ(why(512), std::nullopt);
  page.pages = 512;
  EXPECT_EQ(why(512), Stay::payback);
}

TEST_F(Policy, TheMostValuableMoveFirst) {
  lies(1, 0, {0, 10, 0});
  lies(2, 0, {0, 30, 0});
  lies(3, 0, {0, 20, 0});
  settings_.most_pages = 2;
  const Plan made = decide();
  ASSERT_EQ(made.moves.size(), 2U);
  EXPECT_EQ(made.moves[0].address, 2 * kPageBytes);
  EXPECT_EQ(made.moves[1].address, 3 * kPageBytes);
  EXPECT_EQ(why(1), Stay::rate);
  EXPECT_EQ(made.held(Stay::rate), 1U);
}

TEST_F(Policy, NoPageMovesWhereTheProcessMayNotBe) {
  lies(1, 0, {0, 9, 0});
  situation_.allowed[1] = false;
  EXPECT_EQ(why(1), Stay::forbidden);
}

TEST_F(Policy, NoMoreMoveThanThereIsRoomFor) {
  lies(1, 0, {0, 10, 0});
  lies(2, 0, {0, 30, 0});
  situation_.room[1] = 1;
  EXPECT_EQ(decide().moves.size(), 1U);
  EXPECT_EQ(why(1), Stay::forbidden);
  situation_.room[1] = 0;
  EXPECT_EQ(why(2), Stay::forbidden);
}

TEST_F(Policy, APageOfWhichNobodyKnowsWhereItIsStays) {
  lies(1, kUnknown, {0, 10, 0});
  EXPECT_EQ(why(1), Stay::nowhere);
}

TEST_F(Policy, APageThatMovedThreeTimesIsFrozenForTenIntervals) {
  Page& page = lies(1, 0, {0, 50, 0});
  for (const std::uint32_t interval : {5U, 6U, 7U}) {
    EXPECT_FALSE(is_frozen(page, interval));
    note_move(page, 0, interval, settings_);
  }
  for (situation_.interval = 8; situation_.interval <= 17; ++situation_.interval) {
    EXPECT_EQ(why(1), Stay::frozen) << situation_.interval;
  }
  EXPECT_EQ(why(1), std::nullopt);
}

TEST_F(Policy, AStreakOfMovesEndsWhenThePageStaysAWhile) {
  Page& page = lies(1, 0, {0, 50, 0});
  note_move(page, 0, 1, settings_);
  note_move(page, 0, 2, settings_);
  note_move(page, 0, 2 + settings_.freeze_for, settings_);
  EXPECT_FALSE(is_frozen(page, 3 + settings_.freeze_for));
  EXPECT_EQ(page.moves, 1);
}

// --- for anything that may come -------------------------------------------------------------------------

class AnyProfile : public testing::TestWithParam<unsigned> {
 protected:
  std::mt19937 random_{GetParam()};
  unsigned upto(unsigned most) { return static_cast<unsigned>(random_()) % (most + 1); }
};

TEST_P(AnyProfile, NamesOfNodesDoNotMatter) {
  constexpr std::size_t kNodes = 4;
  constexpr std::array<std::size_t, kNodes> kNew{2, 0, 3, 1};
  Situation one = equal_nodes(kNodes);
  for (std::size_t a = 0; a < kNodes; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      one.distances[a][b] = one.distances[b][a] = 11 + upto(30);
    }
    one.allowed[a] = upto(3) != 0;
  }
  Situation other = one;
  for (std::size_t a = 0; a < kNodes; ++a) {
    other.allowed[kNew[a]] = one.allowed[a];
    for (std::size_t b = 0; b < kNodes; ++b) {
      other.distances[kNew[a]][kNew[b]] = one.distances[a][b];
    }
  }
  Profile first(kNodes);
  Profile second(kNodes);
  for (std::uint64_t page = 0; page < 200; ++page) {
    std::array<std::size_t, kNodes> counts{};
    for (std::size_t node = 0; node < kNodes; ++node) {
      counts.at(node) = (std::size_t{upto(9)} * kNodes) + node;  // all different
    }
    const std::size_t home = upto(kNodes - 1);
    for (std::size_t node = 0; node < kNodes; ++node) {
      for (std::size_t i = 0; i < counts.at(node); ++i) {
        first.count({.address = page * kPageBytes, .node = node, .store = {}, .accesses = 64}).node =
            static_cast<std::int16_t>(home);
        second.count({.address = page * kPageBytes, .node = kNew.at(node), .store = {}, .accesses = 64})
            .node = static_cast<std::int16_t>(kNew.at(home));
      }
    }
  }
  std::map<std::uint64_t, std::size_t> expected;
  for (const Move& move : plan(first, one, {}).moves) {
    expected[move.address] = kNew.at(move.to);
  }
  std::map<std::uint64_t, std::size_t> found;
  for (const Move& move : plan(second, other, {}).moves) {
    found[move.address] = move.to;
  }
  EXPECT_EQ(found, expected);
}

TEST_P(AnyProfile, LimitsHoldAndEveryMoveIsWorthIt) {
  constexpr std::size_t kNodes = 3;
  Situation situation = equal_nodes(kNodes);
  situation.allowed = {upto(1) == 0, true, upto(1) == 0};
  situation.room = {upto(40), upto(40), upto(40)};
  Settings settings;
  settings.most_pages = upto(60);
  Profile profile(kNodes);
  for (std::uint64_t page = 0; page < 300; ++page) {
    const unsigned touches = 1 + upto(30);
    const std::int16_t home = static_cast<std::int16_t>(upto(kNodes)) - 1;
    const std::size_t favourite = upto(kNodes - 1);
    for (unsigned i = 0; i < touches; ++i) {
      const std::size_t node = upto(2) == 0 ? upto(kNodes - 1) : favourite;
      profile.count({.address = page * kPageBytes, .node = node, .store = {}, .accesses = 64}).node = home;
    }
  }
  const Plan made = plan(profile, situation, settings);
  std::vector<std::uint64_t> taken(kNodes, 0);
  std::uint64_t all = 0;
  std::set<std::uint64_t> seen;
  for (const Move& move : made.moves) {
    EXPECT_TRUE(situation.allowed[move.to]);
    EXPECT_NE(move.from, move.to);
    EXPECT_GT(move.saved_nanoseconds, 0);
    EXPECT_TRUE(seen.insert(move.address).second);
    taken[move.to] += move.pages;
    all += move.pages;
  }
  for (std::size_t node = 0; node < kNodes; ++node) {
    EXPECT_LE(taken[node], situation.room[node]);
  }
  EXPECT_LE(all, settings.most_pages);
  EXPECT_EQ(std::accumulate(made.pages.begin(), made.pages.end(), std::uint64_t{0}), 300U)
      << "every page moves, or stays for one reason";
  EXPECT_EQ(plan(profile, situation, settings).moves, made.moves);
}

// Whatever it is touched by: within `freeze_for` intervals a page moves `freeze_after` times at most.
TEST_P(AnyProfile, NoPingPong) {
  Settings settings;
  settings.freeze_after = 1 + upto(3);
  settings.freeze_for = 2 + upto(10);
  settings.doubt = 0;
  settings.least_share = 0;
  Situation situation = equal_nodes(2);
  situation.remaining_intervals = 1e9;
  Profile profile(2);
  std::vector<std::uint32_t> moved;
  for (situation.interval = 1; situation.interval <= 400; ++situation.interval) {
    // An adversary: now and then, always from where it is not.
    const bool against = upto(3) != 0;
    const auto known = profile.find(0);
    const std::size_t at = known ? static_cast<std::size_t>(profile.pages()[*known].node) : 0;
    for (int i = 0; i < 50; ++i) {
      Page& page = profile.count({.address = 0, .node = against ? 1 - at : at, .store = {}, .accesses = 64});
      page.node = static_cast<std::int16_t>(at);
    }
    for (const Move& move : plan(profile, situation, settings).moves) {
      note_move(profile.pages()[0], move.to, situation.interval, settings);
      moved.push_back(situation.interval);
    }
    profile.age();
  }
  ASSERT_GT(moved.size(), settings.freeze_after);
  for (std::size_t i = settings.freeze_after; i < moved.size(); ++i) {
    EXPECT_GE(moved[i] - moved[i - settings.freeze_after], settings.freeze_for) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AnyProfile, testing::Range(1U, 21U));

}  // namespace
}  // namespace memgraft::placement
