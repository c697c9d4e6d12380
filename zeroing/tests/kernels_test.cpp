// Every kernel of this build, and the two public calls, against the same oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "memgraft/zeroing.h"
#include "oracle.h"

namespace memgraft::zeroing::testing {
namespace {

constexpr std::size_t kMostAlignments = 64;  // of an x86-64 cache line

struct Subject {
  std::string name;
  std::string description;
  bool available;
  void (*zero)(void*, std::size_t);
};

void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

std::vector<Subject> subjects() {
  std::size_t count = 0;
  const memgraft_zero_kernel* kernels = memgraft_zero_kernels(&count);
  std::vector<Subject> all;
  all.reserve(count + 2);
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back({kernels[i].name, kernels[i].description, kernels[i].available, kernels[i].zero});
  }
  all.push_back({"memgraft_zero", "the chosen ordinary kernel", true, memgraft_zero});
  all.push_back(
      {"memgraft_zero_non_temporal", "the chosen non-temporal kernel", true, memgraft_zero_non_temporal});
  return all;
}

class EveryKernel : public ::testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    if (!GetParam().available) {
      GTEST_SKIP() << GetParam().name << " is not available on this CPU: " << GetParam().description;
    }
  }

  // What is wrong when this kernel zeroes [offset, offset + bytes) of `memory`, or an empty string.
  std::string mistake_in(std::span<std::byte> memory, std::size_t offset, std::size_t bytes) {
    return mistake(GetParam().zero, memory, offset, bytes, random_, expected_);
  }

 private:
  Random random_{20110512};
  std::vector<std::byte> expected_;
};

TEST_P(EveryKernel, ZeroesEveryAlignmentAndSmallLength) {
  constexpr std::size_t kMostBytes = 512;
  constexpr std::size_t kGuard = 64;
  const GuardedPages pages(kGuard + kMostAlignments + kMostBytes + kGuard);
  for (std::size_t alignment = 0; alignment < kMostAlignments; ++alignment) {
    for (std::size_t bytes = 0; bytes <= kMostBytes; ++bytes) {
      const auto memory = pages.memory().first(kGuard + alignment + bytes + kGuard);
      ASSERT_EQ(mistake_in(memory, kGuard + alignment, bytes), "");
    }
  }
}

// Blocks that one instruction zeroes have 32 to 2048 bytes, and a turn up to four of them: what there is
// before the first, how many there are, and what is left behind the last.
TEST_P(EveryKernel, ZeroesAroundTheBordersOfBlocks) {
  constexpr std::size_t kMostBlock = 2048;
  constexpr std::size_t kMostBlocks = 9;
  constexpr std::size_t kGuard = 64;
  const GuardedPages pages((kMostBlocks + 4) * kMostBlock + kGuard);
  for (std::size_t block = 32; block <= kMostBlock; block *= 2) {
    const std::size_t border = (kGuard + 2 * block - 1) / block * block;
    for (const std::size_t before : {std::size_t{0}, std::size_t{1}, block / 2, block - 1}) {
      for (std::size_t blocks = 0; blocks <= kMostBlocks; ++blocks) {
        for (const std::size_t behind : {std::size_t{0}, std::size_t{1}, block - 1}) {
          const std::size_t offset = border - before;
          const std::size_t bytes = before + blocks * block + behind;
          ASSERT_EQ(mistake_in(pages.memory().first(offset + bytes + kGuard), offset, bytes), "");
        }
      }
    }
  }
}

TEST_P(EveryKernel, ZeroesLargeBlocksAnywhere) {
  constexpr std::size_t kMostBytes = 5 << 20;  // beyond the L2 cache and a huge page
  constexpr int kTrials = 40;
  constexpr std::uint64_t kSeed = 4;
  const GuardedPages pages(kMostBytes);
  Random random(kSeed);
  for (int trial = 0; trial < kTrials; ++trial) {
    // Lengths of all magnitudes alike, not nearly all of megabytes.
    const std::size_t limit = kMostBytes >> random.below(12);
    const std::size_t bytes = random.below(limit);
    const std::size_t offset = random.below(limit - bytes);
    ASSERT_EQ(mistake_in(pages.memory().first(limit), offset, bytes), "")
        << "seed " << kSeed << ", trial " << trial;
  }
}

TEST_P(EveryKernel, TouchesNothingBehindTheEnd) {
  const GuardedPages pages(1);
  const auto memory = pages.memory();
  for (std::size_t bytes = 0; bytes <= memory.size(); bytes += bytes < 1024 ? 1 : 61) {
    ASSERT_EQ(mistake_in(memory, memory.size() - bytes, bytes), "");
  }
}

TEST_P(EveryKernel, TouchesNothingBeforeTheStart) {
  const GuardedPages pages(1);
  const auto memory = pages.memory();
  for (std::size_t bytes = 0; bytes <= memory.size(); bytes += bytes < 1024 ? 1 : 61) {
    ASSERT_EQ(mistake_in(memory, 0, bytes), "");
  }
}

TEST_P(EveryKernel, FillsWholePages) {
  const GuardedPages pages(std::size_t{1} << 20);
  EXPECT_EQ(mistake_in(pages.memory(), 0, pages.memory().size()), "");
}

TEST_P(EveryKernel, AcceptsNullWithLengthZero) { GetParam().zero(nullptr, 0); }

std::string test_name(const ::testing::TestParamInfo<Subject>& subject) {
  std::string name = subject.param.name;
  std::ranges::replace(name, '-', '_');  // GoogleTest allows letters, digits and underscores
  return name;
}

INSTANTIATE_TEST_SUITE_P(Zeroing, EveryKernel, ::testing::ValuesIn(subjects()), test_name);

}  // namespace
}  // namespace memgraft::zeroing::testing
