#include "memgraft/placement/apart.h"

#include <gtest/gtest.h>

namespace memgraft::placement {
namespace {

constexpr std::uint64_t kBlockBytes = 512 * kPageBytes;

class Apart : public testing::Test {
 protected:
  // Pages of a block, each touched by these nodes.
  void touch(std::uint64_t block, std::uint64_t first, std::uint64_t pages,
             std::initializer_list<std::size_t> by) {
    for (std::uint64_t page = first; page < first + pages; ++page) {
      for (const std::size_t node : by) {
        profile_.count({.address = (block * kBlockBytes) + (page * kPageBytes), .node = node, .store = {}});
      }
    }
  }
  [[nodiscard]] Blocks found(const Blocks& blocks) const {
    return used_from_several(profile_, blocks, kBlockBytes);
  }

  Profile profile_{3};
};

TEST_F(Apart, IsWhatSeveralNodesUse) {
  touch(7, 0, 256, {1, 1, 1});
  touch(7, 256, 256, {2});
  touch(8, 0, 512, {1});
  EXPECT_EQ(found({7, 8}), (Blocks{7}));
  EXPECT_EQ(found({8}), (Blocks{})) << "was not asked for";
  EXPECT_EQ(found({9}), (Blocks{})) << "nothing is known of it";
}

TEST_F(Apart, IsNotWhatAFewPagesOfAreUsedElsewhere) {
  touch(7, 0, 70, {1});
  touch(7, 70, 9, {2});
  touch(8, 0, 70, {1});
  touch(8, 70, 10, {0});
  EXPECT_EQ(found({7, 8}), (Blocks{8}));
}

TEST_F(Apart, IsNotWhatAllNodesUseAlike) {
  touch(7, 0, 512, {0, 1, 2});
  touch(7, 0, 256, {1});
  EXPECT_EQ(found({7}), (Blocks{}));
}

TEST_F(Apart, LeavesHugePagesOut) {
  profile_.count({.address = 7 * kBlockBytes, .pages = 512, .node = 1, .store = {}});
  touch(7, 1, 1, {2});
  EXPECT_EQ(found({7}), (Blocks{}));
}

}  // namespace
}  // namespace memgraft::placement
