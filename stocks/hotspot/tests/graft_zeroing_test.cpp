#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#include "fake_library.h"
#include "zeroing/install.h"

namespace memgraft::hotspot {
namespace {

constexpr std::size_t kTlabWords = 512;

using Refill = void*(std::size_t);
using Start = void();
using FakeMemset = void(void*, int, std::size_t);

bool all_bytes_are(const void* memory, std::size_t bytes, std::byte value) {
  const std::span<const std::byte> span(static_cast<const std::byte*>(memory), bytes);
  return std::ranges::all_of(span, [value](std::byte byte) { return byte == value; });
}

class ZeroingGraft : public testing::TestWithParam<ZeroingStrategy> {
 protected:
  ZeroingGraft() { library_.function<Start>("fake_start")(); }

  static void install(const Stock& stock, Patch& patch) {
    // Windows smaller than a TLAB, so that mixed has both kinds of stores to do.
    const ZeroingOptions options{.strategy = GetParam(), .against = {}, .window_bytes = 1024, .table = {}};
    install_zeroing(options, prepare_zeroing(options, stock), patch);
  }

  FakeLibrary library_{"fake_jvm.so"};
  Refill* refill_ = library_.function<Refill>("fake_refill");
  Refill* new_tlab_ = library_.function<Refill>("fake_new_tlab");
};

TEST_P(ZeroingGraft, ZeroesWhatIsHandedOutAndCountsIt) {
  Patch patch;
  const Stock stock = library_.stock();
  install(stock, patch);
  const ZeroingCounts before = zeroing_counts();
  constexpr std::size_t kRefills = 3;
  for (std::size_t i = 0; i < kRefills; ++i) {
    const void* const tlab = refill_(kTlabWords);
    ASSERT_NE(tlab, nullptr);
    EXPECT_TRUE(all_bytes_are(tlab, kTlabWords * kBytesPerWord, std::byte{0}));
  }
  const ZeroingCounts after = zeroing_counts();
  EXPECT_EQ(after.tlabs - before.tlabs, kRefills);
  EXPECT_EQ((after.bytes() - before.bytes()).count(), kRefills * kTlabWords * kBytesPerWord);
  EXPECT_EQ(after.missed_tlabs, before.missed_tlabs);
  EXPECT_GT(after.cycles, before.cycles);
  EXPECT_GT(after.seconds(), before.seconds());
  patch.undo();
}

TEST_P(ZeroingGraft, LeavesEveryOtherMemsetAlone) {
  Patch patch;
  const Stock stock = library_.stock();
  install(stock, patch);
  auto* const stock_memset = library_.function<FakeMemset>("fake_memset");
  const ZeroingCounts before = zeroing_counts();
  void* const tlab = new_tlab_(kTlabWords);
  // The right place with another value or length, and another place, are none of the graft's business.
  stock_memset(tlab, 0x5a, kTlabWords * kBytesPerWord);
  EXPECT_TRUE(all_bytes_are(tlab, kTlabWords * kBytesPerWord, std::byte{0x5a}));
  stock_memset(tlab, 0, kBytesPerWord);
  EXPECT_TRUE(all_bytes_are(tlab, kBytesPerWord, std::byte{0}));
  std::array<std::byte, 64> elsewhere{};
  stock_memset(elsewhere.data(), 0x11, elsewhere.size());
  EXPECT_TRUE(all_bytes_are(elsewhere.data(), elsewhere.size(), std::byte{0x11}));
  EXPECT_EQ(zeroing_counts().tlabs, before.tlabs);
  // The zeroing of that very TLAB still is.
  stock_memset(tlab, 0, kTlabWords * kBytesPerWord);
  EXPECT_EQ(zeroing_counts().tlabs, before.tlabs + 1);
  EXPECT_TRUE(all_bytes_are(tlab, kTlabWords * kBytesPerWord, std::byte{0}));
  patch.undo();
}

TEST_P(ZeroingGraft, CountsATlabThatWasNeverZeroed) {
  Patch patch;
  const Stock stock = library_.stock();
  install(stock, patch);
  const ZeroingCounts before = zeroing_counts();
  (void)new_tlab_(kTlabWords);
  (void)refill_(kTlabWords);
  EXPECT_EQ(zeroing_counts().missed_tlabs, before.missed_tlabs + 1);
  EXPECT_EQ(zeroing_counts().tlabs, before.tlabs + 1);
  patch.undo();
}

TEST_P(ZeroingGraft, ServesManyThreadsAtOnce) {
  Patch patch;
  const Stock stock = library_.stock();
  install(stock, patch);
  const ZeroingCounts before = zeroing_counts();
  constexpr std::size_t kThreads = 8;
  constexpr std::size_t kRefillsPerThread = 64;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([this] {
        for (std::size_t refill = 0; refill < kRefillsPerThread; ++refill) {
          const void* const tlab = refill_(kTlabWords);
          EXPECT_NE(tlab, nullptr);
          EXPECT_TRUE(all_bytes_are(tlab, kTlabWords * kBytesPerWord, std::byte{0}));
        }
      });
    }
  }
  EXPECT_EQ(zeroing_counts().tlabs - before.tlabs, kThreads * kRefillsPerThread);
  EXPECT_EQ(zeroing_counts().missed_tlabs, before.missed_tlabs);
  patch.undo();
}

TEST_P(ZeroingGraft, SurvivesAHeapThatIsFull) {
  Patch patch;
  const Stock stock = library_.stock();
  install(stock, patch);
  const ZeroingCounts before = zeroing_counts();
  constexpr std::size_t kMoreThanTheHeap = std::size_t{1} << 30;
  EXPECT_EQ(refill_(kMoreThanTheHeap), nullptr);
  EXPECT_EQ(zeroing_counts().tlabs, before.tlabs);
  EXPECT_EQ(zeroing_counts().missed_tlabs, before.missed_tlabs);
  patch.undo();
}

TEST_P(ZeroingGraft, IsGoneWhenThePatchIs) {
  const Stock stock = library_.stock();
  {
    Patch patch;
    install(stock, patch);
  }
  const ZeroingCounts before = zeroing_counts();
  const void* const tlab = refill_(kTlabWords);
  EXPECT_TRUE(all_bytes_are(tlab, kTlabWords * kBytesPerWord, std::byte{0}));
  EXPECT_EQ(zeroing_counts().tlabs, before.tlabs);
  // And the joints can be found again, which they could not were a cell still replaced.
  EXPECT_NO_THROW((void)find_joints(kZeroingNeeds, stock, Collector::parallel));
}

INSTANTIATE_TEST_SUITE_P(Strategies, ZeroingGraft,
                         testing::Values(ZeroingStrategy::bulk, ZeroingStrategy::non_temporal,
                                         ZeroingStrategy::mixed),
                         [](const auto& test) {
                           std::string name(name_of(test.param));
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace memgraft::hotspot
