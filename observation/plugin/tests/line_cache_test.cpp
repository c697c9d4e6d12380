#include "../line_cache.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace {

constexpr std::uint64_t kSets = 4;
// From a line to the next one of the same set.
constexpr std::uint64_t kStride = kSets * kLineBytes;

class LineCache : public testing::Test {
 protected:
  std::array<std::uint64_t, kSets * kWays> lines_{};
  line_cache cache_{.sets = kSets, .lines = lines_.data()};
};

TEST_F(LineCache, HasTheWholeLine) {
  EXPECT_FALSE(access_cache(&cache_, 0)) << "nothing is there at first, the line of address 0 neither";
  EXPECT_TRUE(access_cache(&cache_, kLineBytes - 1));
  EXPECT_FALSE(access_cache(&cache_, kLineBytes));
}

TEST_F(LineCache, TheOneUsedLongestAgoLeaves) {
  for (std::uint64_t line = 0; line < kWays; ++line) {
    EXPECT_FALSE(access_cache(&cache_, line * kStride));
  }
  EXPECT_TRUE(access_cache(&cache_, 0)) << "used again, though it came first";
  EXPECT_FALSE(access_cache(&cache_, kWays * kStride)) << "one more than there is place for";
  EXPECT_TRUE(access_cache(&cache_, 0));
  EXPECT_FALSE(access_cache(&cache_, 1 * kStride)) << "had left";
}

TEST_F(LineCache, NoneLeavesWhereOneWasForgotten) {
  for (std::uint64_t line = 0; line < kWays; ++line) {
    access_cache(&cache_, line * kStride);
  }
  forget_line(&cache_, 3 * kStride);
  EXPECT_TRUE(access_cache(&cache_, 0)) << "behind the place that is free";
  EXPECT_FALSE(access_cache(&cache_, kWays * kStride));
  for (std::uint64_t line = 0; line <= kWays; ++line) {
    if (line != 3) {
      EXPECT_TRUE(access_cache(&cache_, line * kStride)) << line;
    }
  }
}

TEST_F(LineCache, OtherSetsAreNotConcerned) {
  EXPECT_FALSE(access_cache(&cache_, kLineBytes));
  for (std::uint64_t line = 0; line < 2 * kWays; ++line) {
    access_cache(&cache_, line * kStride);
  }
  EXPECT_TRUE(access_cache(&cache_, kLineBytes));
}

TEST_F(LineCache, ForgetsOneLine) {
  access_cache(&cache_, 0);
  access_cache(&cache_, kStride);
  forget_line(&cache_, 8);
  forget_line(&cache_, 2 * kStride);
  EXPECT_TRUE(access_cache(&cache_, kStride));
  EXPECT_FALSE(access_cache(&cache_, 0));
}

}  // namespace
