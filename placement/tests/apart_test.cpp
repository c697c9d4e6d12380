#include "memgraft/placement/apart.h"

#include <gtest/gtest.h>

namespace memgraft::placement {
namespace {

constexpr std::uint64_t kRegionBytes = 512 * kPageBytes;

class Apart : public testing::Test {
 protected:
  // Pages of a region, each touched by these nodes.
  void touch(std::uint64_t region, std::uint64_t first, std::uint64_t pages,
             std::initializer_list<std::size_t> by) {
    for (std::uint64_t page = first; page < first + pages; ++page) {
      for (const std::size_t node : by) {
        profile_.count({.address = (region * kRegionBytes) + (page * kPageBytes), .node = node, .store = {}});
      }
    }
  }
  [[nodiscard]] Regions found(const Regions& regions) const {
    return used_from_several(profile_, regions, kRegionBytes);
  }

  Profile profile_{3};
};

TEST_F(Apart, IsWhatSeveralNodesUse) {
  touch(7, 0, 256, {1, 1, 1});
  touch(7, 256, 256, {2});
  touch(8, 0, 512, {1});
  EXPECT_EQ(found({7, 8}), (Regions{7}));
  EXPECT_EQ(found({8}), (Regions{})) << "was not asked for";
  EXPECT_EQ(found({9}), (Regions{})) << "nothing is known of it";
}

TEST_F(Apart, IsNotWhatAFewPagesOfAreUsedElsewhere) {
  touch(7, 0, 70, {1});
  touch(7, 70, 9, {2});
  touch(8, 0, 70, {1});
  touch(8, 70, 10, {0});
  EXPECT_EQ(found({7, 8}), (Regions{8}));
}

TEST_F(Apart, IsNotWhatAllNodesUseAlike) {
  touch(7, 0, 512, {0, 1, 2});
  touch(7, 0, 256, {1});
  EXPECT_EQ(found({7}), (Regions{}));
}

TEST_F(Apart, KnowsOfOneOtherUser) {
  touch(7, 0, 511, {1});
  EXPECT_FALSE(has_other_users(profile_, 7, kRegionBytes, 1));
  EXPECT_TRUE(has_other_users(profile_, 7, kRegionBytes, 0));
  touch(7, 511, 1, {0, 1});
  EXPECT_FALSE(has_other_users(profile_, 7, kRegionBytes, 1)) << "that nodes use alike";
  touch(7, 511, 1, {0});
  EXPECT_TRUE(has_other_users(profile_, 7, kRegionBytes, 1));
  EXPECT_FALSE(has_other_users(profile_, 8, kRegionBytes, 1));
}

TEST_F(Apart, LeavesHugePagesOut) {
  profile_.count({.address = 7 * kRegionBytes, .pages = 512, .node = 1, .store = {}});
  touch(7, 1, 1, {2});
  EXPECT_EQ(found({7}), (Regions{}));
}

}  // namespace
}  // namespace memgraft::placement
