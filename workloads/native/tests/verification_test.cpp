#include <gtest/gtest.h>

#include <cmath>
#include <limits>

extern "C" {
#include "verification.h"
}

namespace {

constexpr double kTolerance = 1e-8;

bool right(double got, double expected, double tolerance) {
  checks all{};
  checks_add(&all, got, expected, tolerance, "value %d", 1);
  EXPECT_EQ(all.count, 1);
  EXPECT_STREQ(all.list[0].name, "value 1");
  EXPECT_EQ(check_holds(&all.list[0]), checks_hold(&all));
  return checks_hold(&all);
}

TEST(Verification, RefusesAValueTwoTolerancesOff) {
  for (const double expected : {3.5, -1e-5, 1e12}) {
    EXPECT_TRUE(right(expected, expected, kTolerance));
    EXPECT_TRUE(right(expected * (1 + kTolerance / 2), expected, kTolerance));
    EXPECT_TRUE(right(expected * (1 - kTolerance / 2), expected, kTolerance));
    EXPECT_FALSE(right(expected * (1 + 2 * kTolerance), expected, kTolerance));
    EXPECT_FALSE(right(expected * (1 - 2 * kTolerance), expected, kTolerance));
    EXPECT_FALSE(right(-expected, expected, kTolerance));
  }
}

TEST(Verification, RefusesWhatIsNoNumber) {
  EXPECT_FALSE(right(std::numeric_limits<double>::quiet_NaN(), 1, kTolerance));
  EXPECT_FALSE(right(std::numeric_limits<double>::infinity(), 1, kTolerance));
}

TEST(Verification, ExactMeansExact) {
  EXPECT_TRUE(right(65463, 65463, 0));
  EXPECT_FALSE(right(65464, 65463, 0));
  EXPECT_TRUE(right(0, 0, 0));
  EXPECT_FALSE(right(1, 0, 0));
}

TEST(Verification, OneWrongValueIsEnough) {
  checks all{};
  EXPECT_FALSE(checks_hold(&all)) << "nothing was compared";
  EXPECT_EQ(checks_worst(&all), nullptr);
  checks_add(&all, 1, 1, 0, "exact");
  checks_add(&all, 1 + kTolerance / 2, 1, kTolerance, "near");
  EXPECT_TRUE(checks_hold(&all));
  EXPECT_STREQ(checks_worst(&all)->name, "near");
  checks_add(&all, 1 + 2 * kTolerance, 1, kTolerance, "wrong");
  EXPECT_STREQ(checks_worst(&all)->name, "wrong");
  checks_add(&all, NAN, 1, kTolerance, "no number");
  checks_add(&all, 1, 1, 0, "exact again");
  EXPECT_FALSE(checks_hold(&all));
  EXPECT_STREQ(checks_worst(&all)->name, "no number");
}

}  // namespace
