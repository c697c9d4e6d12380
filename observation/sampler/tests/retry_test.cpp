#include "retry.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace memgraft::observation {
namespace {

// One page, and what others do to it while its mapping is read.
struct Page {
  bool guarded = false;
  bool inaccessible_by_program = false;
  std::uint64_t guardings = 1;
  unsigned looks = 0;
  unsigned guarded_again_at = 0;   // which look
  unsigned released_again_at = 0;  // before the next release
  bool others_are_guarded = false;

  Retry fault() {
    return retry(
        [this] {
          if (looks != 0 && looks == released_again_at) {
            guarded = false;
          }
          const bool ours = guarded;
          guarded = false;
          return Released{.ours = ours, .guardings = guardings};
        },
        [this] {
          ++looks;
          if (looks == guarded_again_at) {
            guarded = true;
            ++guardings;
          }
          guardings += others_are_guarded && looks < 3 ? 1 : 0;
          return !guarded && !inaccessible_by_program;
        });
  }
};

TEST(Retry, OfAGuardedPage) { EXPECT_EQ(Page{.guarded = true}.fault(), Retry::ours); }

TEST(Retry, WhereAnotherThreadWasFirst) { EXPECT_EQ(Page{}.fault(), Retry::of_anothers); }

TEST(Retry, NotOfAPageThatTheProgramMadeInaccessible) {
  Page page{.inaccessible_by_program = true};
  EXPECT_EQ(page.fault(), Retry::no);
  EXPECT_EQ(page.looks, 1U);
}

// Two threads fault on it, the first releases it, and it is guarded again before the second has looked.
TEST(Retry, OfAPageThatIsGuardedAgainMeanwhile) {
  EXPECT_EQ(Page{.guarded_again_at = 1}.fault(), Retry::ours);
}

TEST(Retry, OfAPageThatIsGuardedAgainAndReleasedByAThird) {
  Page page{.guarded_again_at = 1, .released_again_at = 1};
  EXPECT_EQ(page.fault(), Retry::of_anothers);
  EXPECT_EQ(page.looks, 2U);
}

// Other pages' guardings are no news for ever.
TEST(Retry, NotForEverWhereOtherPagesAreGuarded) {
  Page page{.inaccessible_by_program = true, .others_are_guarded = true};
  EXPECT_EQ(page.fault(), Retry::no);
  EXPECT_EQ(page.looks, 3U);
}

}  // namespace
}  // namespace memgraft::observation
