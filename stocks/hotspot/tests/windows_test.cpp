// Handing out memory in windows, on a fake heap: nothing is lost at the seams, and the heap can always be
// walked.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "grafted_heap.h"
#include "zeroing/install.h"

namespace memgraft::hotspot {
namespace {

constexpr std::size_t kWindowWords = 512;
constexpr std::size_t kTlabWords = 16'384;

struct Ways {
  ZeroingStrategy strategy;
  std::optional<ZeroingStrategy> against;

  [[nodiscard]] bool follow_collections() const { return against || strategy != ZeroingStrategy::windows; }
};

std::string named(const testing::TestParamInfo<Ways>& test) {
  const std::string name(name_of(test.param.strategy));
  return test.param.against ? name + "_or_" + std::string(name_of(*test.param.against)) : name;
}

constexpr Ways kWindows{.strategy = ZeroingStrategy::windows, .against = std::nullopt};
constexpr Ways kWindowsOrBulk{.strategy = ZeroingStrategy::windows, .against = ZeroingStrategy::bulk};
constexpr Ways kAdaptive{.strategy = ZeroingStrategy::adaptive, .against = std::nullopt};
constexpr Ways kConcurrent{.strategy = ZeroingStrategy::concurrent, .against = std::nullopt};
constexpr Ways kPause{.strategy = ZeroingStrategy::pause, .against = std::nullopt};

class WindowsGraft : public testing::TestWithParam<Ways>, protected GraftedHeap {
 protected:
  WindowsGraft() : GraftedHeap(kTlabWords, /*zeroed=*/true, GetParam().follow_collections()) {
    const ZeroingOptions options{.strategy = GetParam().strategy,
                                 .against = GetParam().against,
                                 .window_bytes = kWindowWords * kBytesPerWord,
                                 .table = {}};
    install_zeroing(options, prepare_zeroing(options, stock_), patch_);
  }

  void collect() {
    GraftedHeap::collect([] {});
  }
};

TEST_P(WindowsGraft, HandsOutZeroesAndCanAlwaysBeWalked) {
  constexpr int kCollections = 6;
  constexpr std::size_t kSizes = 40;
  const ZeroingCounts before = zeroing_counts();
  for (int collection = 0; collection < kCollections; ++collection) {
    for (std::size_t i = 0; allocate(2 + (i * 7 % kSizes)); ++i) {
      if (i % 5'000 == 0) {
        (void)walk();
      }
    }
    collect();
  }
  EXPECT_EQ(zeroing_counts().missed_tlabs, before.missed_tlabs);
}

TEST_P(WindowsGraft, ServesLargeObjects) {
  // From a few words to more than a TLAB, so that every answer of Windows::take occurs.
  for (std::size_t round = 0; round < 3; ++round) {
    for (std::size_t words = 3; allocate(words); words = words > 2 * kTlabWords ? 3 : words + (words / 3)) {
    }
    collect();
  }
}

TEST_P(WindowsGraft, ServesManyThreadsThatComeAndGo) {
  constexpr std::size_t kThreads = 6;
  for (int round = 0; round < 12; ++round) {
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < kThreads; ++i) {
        threads.emplace_back([this, i] {
          for (std::size_t n = 0; n < 2'000 && allocate(2 + ((n + i) % 30)); ++n) {
          }
        });
      }
    }
    collect();
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, WindowsGraft,
                         testing::Values(kWindows, kWindowsOrBulk, kAdaptive, kConcurrent, kPause), named);

class FollowingCollections : public WindowsGraft {};

// G1 announces pauses (remark, cleanup) in which TLABs live on: strategies may change there, but no memory
// may be lost sight of.
TEST_P(FollowingCollections, SurvivesPausesThatLeaveTheHeapAlone) {
  for (int collection = 0; collection < 4; ++collection) {
    for (std::size_t i = 0; allocate(2 + (i % 50)); ++i) {
      if (i % 3'000 == 0) {
        zeroing_collection_starts();
        zeroing_collection_ended();
      }
    }
    collect();
  }
}

// A live heap dump collects without JVM TI being told.
TEST_P(FollowingCollections, SurvivesACollectionThatIsNotAnnounced) {
  for (int collection = 0; collection < 6; ++collection) {
    for (std::size_t i = 0; i < 20'000 && allocate(2 + (i % 20)); ++i) {
    }
    if (collection % 2 == 0) {
      collect();
    } else {
      expect_intact();
      (void)walk();
      library_.function<Start>("fake_empty")();
    }
  }
}

// JDK 25 collects within allocate_new_tlab: the strategy is another one when it returns.
TEST_P(FollowingCollections, SurvivesAPauseWithinTheHeapsOwnAllocation) {
  using Callback = void (*)();
  auto& in_allocation = *library_.function<Callback>("fake_in_allocation");
  in_allocation = [] {
    zeroing_collection_starts();
    zeroing_collection_ended();
  };
  for (int collection = 0; collection < 4; ++collection) {
    for (std::size_t i = 0; allocate(2 + (i % 50)); ++i) {
      if (i % 700 == 0) {
        in_allocation();  // between allocations too, so that a chunk is left behind
      }
    }
    collect();
  }
  in_allocation = nullptr;
}

INSTANTIATE_TEST_SUITE_P(Strategies, FollowingCollections,
                         testing::Values(kWindowsOrBulk, kAdaptive, kConcurrent, kPause), named);

class WindowsOnly : public WindowsGraft {};

TEST_P(WindowsOnly, LosesNothingAtTheSeams) {
  const ZeroingCounts before = zeroing_counts();
  constexpr std::size_t kWords = 37;  // does not divide a window
  std::size_t objects = 0;
  while (objects * kWords < 10 * kTlabWords && allocate(kWords)) {
    ++objects;
  }
  const ZeroingCounts after = zeroing_counts();
  EXPECT_GT(after.windows->handed_out - before.windows->handed_out, 10 * kTlabWords / kWindowWords / 2);
  // Each chunk may lose its rest, an object's length at most, and the last one what was not used yet.
  EXPECT_LT(walk(), 11 * kWords + kTlabWords + kWords);
  // A word is zeroed once, and only what was handed out.
  const std::uint64_t zeroed = (after.bytes() - before.bytes()).count();
  EXPECT_LT(zeroed, (objects * kWords + 2 * kWindowWords) * kBytesPerWord * 101 / 100);
}

TEST_P(WindowsOnly, KeepsALargeRestForSmallObjects) {
  ASSERT_TRUE(allocate(100));
  const ZeroingCounts before = zeroing_counts();
  // Larger than what is left of the chunk, which is larger than what may be given up.
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(allocate(2 * kTlabWords));
    ASSERT_TRUE(allocate(100));
  }
  EXPECT_EQ(zeroing_counts().windows->given_up, before.windows->given_up);
}

INSTANTIATE_TEST_SUITE_P(Strategies, WindowsOnly, testing::Values(kWindows), named);

}  // namespace
}  // namespace memgraft::hotspot
