#include "sample_limit.h"

#include <gtest/gtest.h>

namespace memgraft::observation {
namespace {

TEST(SampleLimit, LetsBurstsThrough) {
  SampleLimit limit(1000);
  EXPECT_TRUE(limit.watches_after(900, 0.1));
  EXPECT_FALSE(limit.watches_after(900, 0.1));
  EXPECT_EQ(limit.watched_share(), 1);
}

TEST(SampleLimit, GoesOnOnceAFewMoreMayCome) {
  SampleLimit limit(1000);
  EXPECT_FALSE(limit.watches_after(1200, 0));
  EXPECT_FALSE(limit.watches_after(0, 0.25)) << "a few at once would end it again";
  EXPECT_TRUE(limit.watches_after(0, 0.1));
}

TEST(SampleLimit, SavesForASecondAtMost) {
  SampleLimit limit(1000);
  EXPECT_TRUE(limit.watches_after(0, 1e6));
  EXPECT_FALSE(limit.watches_after(1000, 0));
}

// However many there are while it watches.
TEST(SampleLimit, KeepsToItOnAverage) {
  for (const double rate : {2e3, 5e4, 1e6}) {
    SampleLimit limit(1000);
    constexpr double kStep = 0.05;
    constexpr int kSteps = 20000;
    double samples = 0;
    bool watches = true;
    for (int i = 0; i < kSteps; ++i) {
      const double came = watches ? rate * kStep : 0;
      samples += came;
      watches = limit.watches_after(came, kStep);
    }
    EXPECT_NEAR(samples / (kSteps * kStep), 1000, 100) << rate;
    EXPECT_NEAR(limit.watched_share(), 1000 / rate, 0.1 * 1000 / rate) << rate;
  }
}

}  // namespace
}  // namespace memgraft::observation
