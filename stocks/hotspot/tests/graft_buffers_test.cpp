// Buffers between a fake heap and its TLABs, with and without zeroing on top: no memory is handed out twice,
// and the heap can always be walked.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "buffers/install.h"
#include "grafted_heap.h"
#include "zeroing/install.h"

namespace memgraft::hotspot {
namespace {

using allocation::Kind;

constexpr std::size_t kTlabWords = 1'024;

struct Ways {
  std::string name;
  std::vector<allocation::Level> levels;
  BufferOptions::Take take = BufferOptions::Take::atomic;
  std::optional<ZeroingStrategy> zeroing;
  bool automatic = false;
  bool zero_at_refill = false;

  [[nodiscard]] bool follow_collections() const { return zeroing == ZeroingStrategy::concurrent; }
};

class BuffersGraft : public testing::TestWithParam<Ways>, protected GraftedHeap {
 protected:
  BuffersGraft() : GraftedHeap(kTlabWords, GetParam().zeroing.has_value(), GetParam().follow_collections()) {
    library_.flag("ZeroTLAB") = GetParam().zeroing.has_value();
    const Joints joints = find_buffer_joints({}, stock_, Collector::parallel);
    if (GetParam().zeroing) {
      const ZeroingOptions options{.strategy = *GetParam().zeroing, .against = {}, .table = {}};
      install_zeroing(options, prepare_zeroing(options, stock_), patch_);
    }
    install_buffers(
        {.levels = GetParam().levels,
         .automatic = GetParam().automatic,
         .zero_at_refill = GetParam().zero_at_refill,
         .take = GetParam().take},
        stock_, Collector::parallel, joints, GetParam().zeroing.has_value(),
        [](const Refusal& refusal) { FAIL() << refusal.what(); }, patch_);
  }

  void collect() { GraftedHeap::collect(buffers_collection_starts); }
};

TEST_P(BuffersGraft, CanAlwaysBeWalked) {
  for (int collection = 0; collection < 4; ++collection) {
    for (std::size_t i = 0; allocate(2 + (i * 7 % 40)); ++i) {
      if (i % 3'000 == 0) {
        (void)walk();
      }
    }
    collect();
  }
  const BufferCounts counts = buffer_counts();
  EXPECT_EQ(counts.collections, 4U);
  if (GetParam().automatic) {
    ASSERT_EQ(counts.sizes.size(), 2U);
    EXPECT_GT(counts.sizes.front().changes + counts.sizes.back().changes, 0U);
    EXPECT_LE(4 * counts.sizes.front().words, counts.sizes.back().words);
    EXPECT_EQ(counts.levels.front().level.words, counts.sizes.back().words);
    // Of the sizes decided, not of those that were asked for.
    const allocation::LevelCounts& lowest = counts.levels.front().counts;
    EXPECT_GE(lowest.words, lowest.taken * 2 * Words(kTlabWords));
  }
  if (GetParam().zero_at_refill && !GetParam().follow_collections()) {
    // Each filling, and what came past the buffers; nothing twice.
    const Bytes refilled = to_bytes(counts.levels.front().counts.refills * counts.levels.front().level.words);
    const Bytes zeroed = zeroing_counts().bytes();
    EXPECT_GE(zeroed, refilled);
    EXPECT_LE(zeroed, refilled + refilled / 2);
  }
  if (!GetParam().levels.empty()) {
    EXPECT_GT(counts.levels.front().counts.taken, 20U);
    EXPECT_GT(counts.levels.front().counts.refills, 10U);
    EXPECT_GT(counts.levels.front().latencies.requests, 0U);
    EXPECT_GT(counts.levels.front().latencies.median, 0);
  } else if (!GetParam().automatic) {
    EXPECT_GT(counts.heap_requests, 100U);
  }
}

TEST_P(BuffersGraft, ServesLargeObjects) {
  for (std::size_t round = 0; round < 3; ++round) {
    for (std::size_t words = 3; allocate(words); words = words > 64 * kTlabWords ? 3 : words + (words / 3)) {
    }
    collect();
  }
}

TEST_P(BuffersGraft, ServesManyThreads) {
  constexpr int kThreads = 6;
  for (int collection = 0; collection < 3; ++collection) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([this, i] {
        for (std::size_t n = 0; n < 20'000 && allocate(2 + ((n + static_cast<std::size_t>(i)) * 5 % 60));
             ++n) {
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    collect();
  }
}

TEST_P(BuffersGraft, IsEmptyOnceACollectionHasStarted) {
  auto* const walk_young = library_.function<Walk>("fake_walk_young");
  for (int collection = 0; collection < 3; ++collection) {
    for (std::size_t i = 0; i < 2'000 && allocate(20); ++i) {
    }
    if (GetParam().zeroing) {
      zeroing_collection_starts();
    }
    buffers_collection_starts();
    std::size_t dummy_words = 0;
    EXPECT_TRUE(walk_young(&dummy_words));
    expect_intact();
    library_.function<Start>("fake_empty")();
    if (GetParam().zeroing) {
      zeroing_collection_ended();
    }
  }
}

// JDK 25 and G1 may walk the heap within the allocation that a refill waits for.
TEST_P(BuffersGraft, CanBeWalkedWithinARefill) {
  static Walk* walks_heap = nullptr;
  static int walks = 0;
  walks_heap = walk_;
  using Callback = void (*)();
  auto& in_allocation = *library_.function<Callback>("fake_in_allocation");
  in_allocation = [] {
    std::size_t dummy_words = 0;
    EXPECT_TRUE(walks_heap(&dummy_words));
    ++walks;
  };
  walks = 0;
  for (std::size_t i = 0; i < 50'000 && allocate(2 + (i * 7 % 40)); ++i) {
  }
  in_allocation = nullptr;
  EXPECT_GT(walks, 5);
  collect();
}

INSTANTIATE_TEST_SUITE_P(
    Designs, BuffersGraft,
    testing::Values(
        Ways{.name = "none", .levels = {}, .zeroing = {}},
        Ways{.name = "one_level", .levels = {{Kind::cpu, 8'192_words}}, .zeroing = {}},
        Ways{.name = "restartable",
             .levels = {{Kind::cpu, 8'192_words}},
             .take = BufferOptions::Take::automatic,
             .zeroing = {}},
        Ways{.name = "two_levels",
             .levels = {{Kind::cpu, 8'192_words}, {Kind::node, 32'768_words}},
             .zeroing = {}},
        Ways{.name = "small", .levels = {{Kind::node, 2'200_words}}, .zeroing = {}},
        Ways{.name = "bulk",
             .levels = {{Kind::cpu, 8'192_words}, {Kind::node, 32'768_words}},
             .zeroing = ZeroingStrategy::bulk},
        Ways{.name = "automatic",
             .levels = {},
             .take = BufferOptions::Take::automatic,
             .zeroing = {},
             .automatic = true},
        Ways{.name = "bulk_at_refill",
             .levels = {{Kind::cpu, 8'192_words}, {Kind::node, 32'768_words}},
             .zeroing = ZeroingStrategy::bulk,
             .zero_at_refill = true},
        Ways{.name = "concurrent_at_refill",
             .levels = {{Kind::cpu, 8'192_words}},
             .zeroing = ZeroingStrategy::concurrent,
             .zero_at_refill = true},
        Ways{.name = "windows", .levels = {{Kind::cpu, 8'192_words}}, .zeroing = ZeroingStrategy::windows},
        Ways{.name = "concurrent",
             .levels = {{Kind::cpu, 8'192_words}, {Kind::node, 32'768_words}},
             .zeroing = ZeroingStrategy::concurrent}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace memgraft::hotspot
