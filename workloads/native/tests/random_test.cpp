#include <gtest/gtest.h>

#include <cstdint>

extern "C" {
#include "random.h"
}

namespace {

constexpr std::uint64_t kSeed = 271828183;

// By Python's integers of any length: pow(5**13, steps, 2**46) * seed % 2**46.
TEST(Random, IsTheSpecifiedSequence) {
  EXPECT_EQ(random_step(kSeed), 32883653486115);
  EXPECT_EQ(random_step(314159265), 55909509111989);
  EXPECT_EQ(random_after(kSeed, 1000), 8661753562871);
  EXPECT_EQ(random_after(kSeed, std::uint64_t{1} << 40), 21990504383703);
}

TEST(Random, NumbersAreStatesByTwoToThe46) {
  std::uint64_t state = kSeed;
  EXPECT_DOUBLE_EQ(random_next(&state), 32883653486115.0 / 70368744177664.0);
  EXPECT_EQ(state, 32883653486115);
}

TEST(Random, JumpingAheadIsTakingSteps) {
  std::uint64_t state = kSeed;
  for (std::uint64_t steps = 0; steps < 3000; ++steps) {
    ASSERT_EQ(random_after(kSeed, steps), state) << steps;
    state = random_step(state);
  }
}

// 2^44, the period where the multiplier is 5 modulo 8 and the seed is odd (Knuth, The Art of Computer
// Programming 2, 3.2.1.2).
TEST(Random, RepeatsAfterItsPeriodAndNotBefore) {
  const std::uint64_t period = std::uint64_t{1} << 44;
  EXPECT_EQ(random_after(kSeed, period), kSeed);
  EXPECT_NE(random_after(kSeed, period / 2), kSeed);
}

}  // namespace
