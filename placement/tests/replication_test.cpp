#include "memgraft/placement/replication.h"

#include <gtest/gtest.h>

namespace memgraft::placement {
namespace {

class Replicated : public testing::Test {
 protected:
  void touch(std::uint64_t page, std::size_t node, int times, bool store = false) {
    for (int i = 0; i < times; ++i) {
      profile_.count({.address = page * kPageBytes, .node = node, .store = store}).node = 0;
    }
  }
  Profile profile_{3};
};

TEST_F(Replicated, APageThatAllReadIsLocalToAll) {
  touch(1, 0, 10);
  touch(1, 1, 10);
  touch(1, 2, 10);
  const Replication result = would_replicate(profile_);
  EXPECT_EQ(result.pages, 1U);
  EXPECT_EQ(result.copies, 2U);
  EXPECT_EQ(result.remote_before, 20);
  EXPECT_EQ(result.remote_placed, 20);
  EXPECT_EQ(result.remote_replicated, 0);
}

TEST_F(Replicated, APageThatIsWrittenIsNotCopied) {
  touch(1, 0, 10);
  touch(1, 1, 10);
  touch(1, 1, 1, /*store=*/true);
  const Replication result = would_replicate(profile_);
  EXPECT_EQ(result.pages, 0U);
  EXPECT_EQ(result.remote_replicated, result.remote_placed);
}

TEST_F(Replicated, ARareStoreReachesEveryCopy) {
  touch(1, 0, 100);
  touch(1, 1, 100);
  touch(1, 2, 100);
  touch(1, 0, 2, /*store=*/true);
  EXPECT_EQ(would_replicate(profile_).remote_replicated, 2 * 2);
}

TEST_F(Replicated, APageOfOneNodeIsPlacedNotCopied) {
  touch(1, 2, 10);
  touch(1, 0, 1);
  const Replication result = would_replicate(profile_);
  EXPECT_EQ(result.copies, 0U);
  EXPECT_EQ(result.remote_before, 10);
  EXPECT_EQ(result.remote_replicated, 1);
}

}  // namespace
}  // namespace memgraft::placement
