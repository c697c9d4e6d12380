// Handing out memory in windows, on a fake heap: nothing is lost at the seams, and the heap can always be
// walked.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "fake_library.h"
#include "zeroing/install.h"

namespace memgraft::hotspot {
namespace {

constexpr std::size_t kWindowWords = 512;
constexpr std::size_t kTlabWords = 16'384;

using Start = void();
using Object = std::uint64_t*(std::size_t words, std::size_t tlab_words);
using Walk = bool(std::size_t* dummy_words);

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

class WindowsGraft : public testing::TestWithParam<Ways> {
 protected:
  WindowsGraft() {
    library_.function<Start>("fake_start")();
    if (GetParam().follow_collections()) {
      library_.function<Start>("fake_fresh")();  // which strategies that follow collections rely on
    }
    const ZeroingOptions options{.strategy = GetParam().strategy,
                                 .against = GetParam().against,
                                 .window_bytes = kWindowWords * kBytesPerWord,
                                 .table = {}};
    install_zeroing(options, prepare_zeroing(options, stock_), patch_);
  }

  ~WindowsGraft() override { (void)walk(); }
  WindowsGraft(const WindowsGraft&) = delete;
  WindowsGraft& operator=(const WindowsGraft&) = delete;
  WindowsGraft(WindowsGraft&&) = delete;
  WindowsGraft& operator=(WindowsGraft&&) = delete;

  // Allocates, checks that the fields are zero, and scribbles over them. False where the heap is full.
  [[nodiscard]] bool allocate(std::size_t words) {
    std::uint64_t* const object = object_(words, kTlabWords);
    if (object == nullptr) {
      return false;
    }
    const std::span fields(object + 1, words - 1);
    EXPECT_TRUE(std::ranges::all_of(fields, [](std::uint64_t field) { return field == 0; }));
    std::ranges::fill(fields, ~std::uint64_t{0});
    {
      const std::scoped_lock lock(allocated_mutex_);
      allocated_.push_back(fields);
    }
    return true;
  }

  // What was allocated since the last collection still holds what was written.
  void expect_intact() {
    for (const std::span<std::uint64_t> fields : allocated_) {
      EXPECT_TRUE(
          std::ranges::all_of(fields, [](std::uint64_t field) { return field == ~std::uint64_t{0}; }));
    }
    allocated_.clear();
  }

  std::size_t walk() const {
    std::size_t dummy_words = 0;
    EXPECT_TRUE(walk_(&dummy_words));
    return dummy_words;
  }

  // A collection as the agent sees one.
  void collect() {
    if (GetParam().follow_collections()) {
      zeroing_collection_starts();
    }
    expect_intact();
    (void)walk();
    library_.function<Start>("fake_empty")();
    if (GetParam().follow_collections()) {
      zeroing_collection_ended();
    }
  }

  FakeLibrary library_{"fake_jvm.so"};
  Stock stock_ = library_.stock();
  Patch patch_;
  Object* object_ = library_.function<Object>("fake_object");
  Walk* walk_ = library_.function<Walk>("fake_walk");
  std::mutex allocated_mutex_;
  std::vector<std::span<std::uint64_t>> allocated_;
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
