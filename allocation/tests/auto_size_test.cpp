#include "memgraft/allocation/auto_size.h"

#include <gtest/gtest.h>

#include "fake_heap.h"
#include "fake_system.h"

namespace memgraft::allocation {
namespace {

constexpr Words kMost{1 << 20};

// A level of which nothing is to be changed.
LevelSeen calm() {
  return {.buffers = 2,
          .words = 1'000_words,
          .taken = 1'000,
          .taken_words = 10'000_words,
          .refills = 20,
          .contended = 0,
          .foreign = 0,
          .lost_words = 0_words,
          .nursery_words = 1'000'000_words};
}

TEST(Decide, KeepsWhatIsRight) {
  EXPECT_EQ(decide(calm(), 0_words, kMost), (Decision{1'000_words, Reason::right}));
}

TEST(Decide, KeepsWhatIsNotUsed) {
  LevelSeen seen = calm();
  seen.taken = 15;
  seen.lost_words = 500'000_words;
  EXPECT_EQ(decide(seen, 0_words, kMost), (Decision{1'000_words, Reason::unused}));
}

TEST(Decide, HalvesWhatLosesOver2PercentOfTheNursery) {
  LevelSeen seen = calm();
  seen.lost_words = 20'000_words;
  EXPECT_EQ(decide(seen, 0_words, kMost), (Decision{1'000_words, Reason::right}));
  seen.lost_words = 20'001_words;
  EXPECT_EQ(decide(seen, 0_words, kMost), (Decision{500_words, Reason::wasteful}));
  EXPECT_EQ(decide(seen, 500_words, kMost), (Decision{500_words, Reason::wasteful}));
  EXPECT_EQ(decide(seen, 501_words, kMost), (Decision{1'000_words, Reason::limited}));
}

TEST(Decide, HalvesWhereOver1Of200AllocationsIsForeign) {
  LevelSeen seen = calm();
  seen.foreign = 5;
  EXPECT_EQ(decide(seen, 0_words, kMost), (Decision{1'000_words, Reason::right}));
  seen.foreign = 6;
  EXPECT_EQ(decide(seen, 0_words, kMost), (Decision{500_words, Reason::foreign}));
}

TEST(Decide, DoublesWhatIsContended) {
  LevelSeen seen = calm();
  seen.contended = 10;
  EXPECT_EQ(decide(seen, 0_words, kMost), (Decision{1'000_words, Reason::right}));
  seen.contended = 11;
  EXPECT_EQ(decide(seen, 0_words, kMost), (Decision{2'000_words, Reason::contended}));
  EXPECT_EQ(decide(seen, 0_words, 2'000_words), (Decision{2'000_words, Reason::contended}));
  EXPECT_EQ(decide(seen, 0_words, 1'999_words), (Decision{1'000_words, Reason::limited}));
}

TEST(Decide, DoublesWhatIsRefilledOver50Times) {
  LevelSeen seen = calm();
  seen.refills = 100;
  EXPECT_EQ(decide(seen, 0_words, kMost), (Decision{1'000_words, Reason::right}));
  seen.refills = 101;
  EXPECT_EQ(decide(seen, 0_words, kMost), (Decision{2'000_words, Reason::busy}));
}

TEST(Decide, DoublesOnlyWhereTwiceTheWasteIsLittle) {
  LevelSeen seen = calm();
  seen.refills = 101;
  seen.lost_words = 4'999_words;
  EXPECT_EQ(decide(seen, 0_words, kMost).reason, Reason::busy);
  seen.lost_words = 5'000_words;
  EXPECT_EQ(decide(seen, 0_words, kMost), (Decision{1'000_words, Reason::right}));
}

TEST(Decide, KeepsRoomForFourRequests) {
  LevelSeen seen = calm();
  seen.lost_words = 30'000_words;
  seen.taken_words = 126'000_words;
  EXPECT_EQ(decide(seen, 0_words, kMost), (Decision{1'000_words, Reason::limited}));
  seen.taken_words = 125'000_words;
  EXPECT_EQ(decide(seen, 0_words, kMost), (Decision{500_words, Reason::wasteful}));
}

TEST(Decide, LeavesABufferAloneThatIsOutsideTheLimits) {
  LevelSeen seen = calm();
  seen.lost_words = 30'000_words;
  EXPECT_EQ(decide(seen, 4'000_words, kMost), (Decision{1'000_words, Reason::limited}));
}

// What threads take by their sizes, from one collection to the next.
class Sized : public testing::Test {
 protected:
  void allocate(int times) {
    for (int i = 0; i < times; ++i) {
      heap_.own(buffers_.take(sizes_.thread_words(), sizes_.thread_words(), nullptr));
      ++totals_.thread_buffers;
    }
    totals_.heap_words = buffers_.counts(1).refills * buffers_.level(1).words;
  }
  void collect() {
    buffers_.close();
    sizes_.collected(totals_);
  }

  FakeHeap heap_{4'000'000_words};
  Hierarchy buffers_{
      {{Kind::cpu, 1'024_words}, {Kind::node, 16'384_words}}, FakeSystem().read(), heap_.functions(), false};
  AutoSize sizes_{buffers_, 64_words, 16_words};
  AutoSize::Totals totals_{.threads = 1};
};

TEST_F(Sized, AreDoubledTogetherWhereRefillsAreFrequent) {
  allocate(78 * 256);
  collect();
  // 19 968 buffers of threads, 1 248 refills, 78, and nothing lost: every level had over 50 refills of each
  // buffer.
  EXPECT_EQ(sizes_.thread_words(), 128_words);
  EXPECT_EQ(buffers_.level(0).words, 2'048_words);
  EXPECT_EQ(buffers_.level(1).words, 32'768_words);
  const auto story = sizes_.story();
  ASSERT_EQ(story.size(), 3U);
  EXPECT_EQ(story[0].first_words, 64_words);
  EXPECT_EQ(story[2].last.decision, (Decision{32'768_words, Reason::busy}));
  EXPECT_EQ(story[2].last.collection, 1U);
  EXPECT_EQ(story[2].decisions.at(static_cast<std::size_t>(Reason::busy)), 1U);
}

TEST_F(Sized, AreJudgedByWhatWasSinceTheLastCollection) {
  allocate(78 * 256);
  collect();
  allocate(10);
  collect();
  for (const auto& of : sizes_.story()) {
    EXPECT_EQ(of.changes, 1U);
    EXPECT_EQ(of.decisions.at(static_cast<std::size_t>(Reason::unused)), 1U);
  }
}

TEST_F(Sized, AreNotJudgedByWhatOneCollectionFinds) {
  // Nothing is left in the buffer of 16 384 words, then nearly all of it, in turn.
  Words handed_out;
  for (int collection = 0; collection < 40; ++collection) {
    allocate(collection % 2 == 0 ? 60 * 256 : 60 * 256 - 240);
    handed_out += 500'000_words;
    totals_.heap_words = handed_out;
    collect();
  }
  EXPECT_EQ(sizes_.story()[2].changes, 0U);
}

TEST_F(Sized, ShrinkFromTheThreadsUpwards) {
  totals_.threads = 400;
  for (int collection = 0; collection < 4; ++collection) {
    allocate(400);
    collect();
    EXPECT_LE(4 * sizes_.thread_words(), buffers_.level(0).words);
    EXPECT_LE(4 * buffers_.level(0).words, buffers_.level(1).words);
    EXPECT_EQ(buffers_.level(1).words % buffers_.level(0).words, 0_words);
  }
  EXPECT_EQ(sizes_.thread_words(), 16_words) << "the least";
}

TEST_F(Sized, KeepToALimit) {
  sizes_.limit(8'191_words);
  EXPECT_EQ(buffers_.level(1).words, 4'096_words);
  EXPECT_EQ(buffers_.level(0).words, 1'024_words);
  allocate(78 * 256);
  collect();
  allocate(78 * 256);
  collect();
  EXPECT_LE(buffers_.level(1).words, 8'191_words);
  EXPECT_GT(sizes_.story()[2].decisions.at(static_cast<std::size_t>(Reason::limited)), 0U);
}

}  // namespace
}  // namespace memgraft::allocation
