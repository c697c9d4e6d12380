// What the sampler does with huge pages, and what it knows of them: the kernel's counters are written here,
// as Linux would.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "huge_parts.h"
#include "kept_apart.h"
#include "round.h"
#include "sampler.h"

namespace memgraft::observation {
namespace {

constexpr std::uintptr_t kBlock = 0x40000000;

std::string g_counters;

// In pieces, as the kernel may.
ssize_t read_counters(int /*file*/, void* to, std::size_t most) {
  const std::size_t bytes = std::min({most, g_counters.size(), std::size_t{20}});
  std::memcpy(to, g_counters.data(), bytes);
  g_counters.erase(0, bytes);
  return static_cast<ssize_t>(bytes);
}

// Whether a block that was split is still taken for split when the counters say that.
bool is_split_after(const std::string& counters) {
  g_round.split.clear();
  g_round.split.insert(kBlock, 1);
  g_counters = counters;
  const auto read = std::exchange(g_state.read, read_counters);
  see_joined();
  g_state.read = read;
  return g_round.split.has(kBlock);
}

TEST(HugePages, AreSplitAgainWhenLinuxHasMadeSome) {
  g_round.joined = 7;
  EXPECT_TRUE(is_split_after("thp_fault_alloc 3\nthp_collapse_alloc 7\nthp_collapse_alloc_failed 9\n"));
  EXPECT_FALSE(is_split_after("thp_fault_alloc 3\nthp_collapse_alloc 8\nthp_collapse_alloc_failed 9\n"));
  EXPECT_TRUE(is_split_after("thp_fault_alloc 3\nthp_collapse_alloc 8\nthp_collapse_alloc_failed 9\n"));
}

TEST(HugePages, MayBeUnknownToTheKernel) {
  g_round.joined = 0;
  EXPECT_TRUE(is_split_after(""));
  EXPECT_TRUE(is_split_after("nr_free_pages 5\n"));
}

// Two huge pages of this process; the sampler knows of what begins in the middle of the first, as behind
// what may be a stack.
class TwoHugePages : public testing::Test {
 protected:
  static constexpr std::uintptr_t kBytes = 2U << 20U;
  static constexpr std::size_t kAll = 3 * kBytes;
  static constexpr long kParts = 2 * kBytes / 4096;

  void SetUp() override {
    map_ = mmap(nullptr, kAll, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(map_, MAP_FAILED);
    begin_ = (address_of(map_) + kBytes - 1) / kBytes * kBytes;
    madvise(at(begin_), 2 * kBytes, MADV_HUGEPAGE);
    std::memset(at(begin_), 1, 2 * kBytes);
    if (parts() != kParts) {
      GTEST_SKIP() << "SKIPPED: no transparent huge pages of 2 MiB here, or none that may be known of";
    }
    g_state.page_bytes = 4096;
    g_round.huge_bytes = kBytes;
    g_round.split.clear();
    g_state.candidates[g_state.newest][0] = {.range = {.begin = middle(), .end = begin_ + 2 * kBytes},
                                             .live = true};
  }
  void TearDown() override {
    g_state.candidates[g_state.newest][0] = {};
    g_round.huge_bytes = 0;
    g_round.split.clear();
    munmap(map_, kAll);
  }

  static unsigned char* at(std::uintptr_t address) { return reinterpret_cast<unsigned char*>(address); }
  [[nodiscard]] std::uintptr_t middle() const { return begin_ + kBytes / 2; }
  [[nodiscard]] long parts() const { return parts_of_huge_pages(at(begin_), kParts); }
  // Linux does not split what it happens to hold at that moment.
  long parts_after(long wanted, const std::function<void()>& split) const {
    constexpr int kMostTries = 200;
    for (int tries = 0; tries < kMostTries && parts() != wanted; ++tries) {
      split();
      usleep(tries * 100);
    }
    return parts();
  }

  void* map_ = nullptr;
  std::uintptr_t begin_ = 0;
};

TEST_F(TwoHugePages, OneOfWhichHalfIsSampledIsSplit) {
  EXPECT_EQ(parts_after(kParts / 2,
                        [this] {
                          g_round.split.clear();
                          split_huge_page(middle());
                        }),
            kParts / 2);
}

// Splitting may have failed before.
TEST_F(TwoHugePages, OneThatIsKeptApartIsSplitAtOnce) {
  const auto shared = std::make_unique<Shared>();
  const auto keep_both_apart = [&] {
    for (const std::uintptr_t block : {begin_, begin_ + kBytes}) {
      g_round.split.insert(block, g_round.number);
      shared->apart[0] = block;
      keep_apart(*shared);
      EXPECT_EQ(shared->apart[0], 0U);
      EXPECT_FALSE(g_round.split.has(block)) << "it is tried again where it failed once more";
    }
  };
  EXPECT_EQ(parts_after(0, keep_both_apart), 0);
}

// What is there now may be somebody else's. Or it is the same, and a thread began: the next round tells.
TEST_F(TwoHugePages, OneWhoseMemoryHasChangedMeanwhileWaits) {
  const auto shared = std::make_unique<Shared>();
  shared->apart[0] = begin_ + kBytes;
  for (const bool live : {false, false, true}) {
    g_state.candidates[g_state.newest][0].live = live;
    keep_apart(*shared);
    EXPECT_EQ(is_kept_apart(getpid(), begin_ + kBytes), live);
    EXPECT_EQ(shared->apart[0] == 0, live);
  }
}

TEST_F(TwoHugePages, MemoryThatIsGoneIsNotWaitedFor) {
  const auto shared = std::make_unique<Shared>();
  g_state.candidates[g_state.newest][0].live = false;
  shared->apart[0] = begin_ + (64 * kBytes);
  keep_apart(*shared);
  EXPECT_EQ(shared->apart[0], 0U);
}

}  // namespace
}  // namespace memgraft::observation
