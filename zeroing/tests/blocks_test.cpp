// How the sizes of the blocks that DC ZVA, dcbz and cbo.zero zero are found or refused: the arithmetic on
// every machine, the instructions themselves where there are any.
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "../kernels/aarch64/dczid.h"
#include "../kernels/generic/block.h"
#include "../kernels/ppc64/line.h"
#include "../kernels/riscv64/hwprobe.h"
#include "memgraft/zeroing.h"

namespace memgraft::zeroing {
namespace {

TEST(Blocks, ArePowersOfTwoFrom16BytesToAPage) {
  EXPECT_EQ(sane_block(16), 16U);
  EXPECT_EQ(sane_block(128), 128U);
  EXPECT_EQ(sane_block(4096), 4096U);
  for (const std::size_t bytes : {0UL, 1UL, 8UL, 96UL, 129UL, 8192UL, ~0UL}) {
    EXPECT_EQ(sane_block(bytes), 0U) << bytes;
  }
}

TEST(Blocks, ThatAreNotKnownAreLargerThanAnyLength) {
  KnownBlock block;
  EXPECT_EQ(block.unit(), ~std::size_t{0});
  EXPECT_FALSE(block.found(96));
  EXPECT_EQ(block.unit(), ~std::size_t{0});
  EXPECT_TRUE(block.found(64));
  EXPECT_EQ(block.unit(), 64U);
}

TEST(Blocks, OfDcZvaAreReadFromDczid) {
  EXPECT_EQ(dc_zva_block(0b00100), 64U);  // the logarithm of the size in 4-byte words
  EXPECT_EQ(dc_zva_block(0b00101), 128U);
  EXPECT_EQ(dc_zva_block(0b01001), 2048U);
  EXPECT_EQ(dc_zva_block(0b10100), 0U) << "DZP is set: prohibited";
  EXPECT_EQ(dc_zva_block(0b01111), 0U) << "128 KiB";
}

// Zeroes the `line` bytes that hold `at`, as dcbz does.
template <std::size_t line>
void clear_line(std::byte* at) {
  std::memset(at - reinterpret_cast<std::uintptr_t>(at) % line, 0, line);
}

TEST(Blocks, OfDcbzAreCounted) {
  EXPECT_EQ(line_size(clear_line<32>), 32U);
  EXPECT_EQ(line_size(clear_line<128>), 128U);
  EXPECT_EQ(line_size([](std::byte* /*at*/) {}), 0U) << "an instruction that does nothing";
  EXPECT_EQ(line_size([](std::byte* at) { std::memset(at, 0, 96); }), 0U) << "no power of two";
}

TEST(Blocks, OfCboZeroAreWhatLinuxSays) {
  constexpr HwprobePair kZicboz{.key = kHwprobeExtensions, .value = kHwprobeZicboz | 1U};
  constexpr HwprobePair kNone{.key = kHwprobeExtensions, .value = ~kHwprobeZicboz};
  constexpr HwprobePair kUnknown{.key = -1, .value = 0};
  constexpr HwprobePair kOf64{.key = kHwprobeZicbozBlockSize, .value = 64};
  constexpr HwprobePair kDiffering{.key = kHwprobeZicbozBlockSize, .value = ~std::uint64_t{0}};
  EXPECT_EQ(cbo_zero_block(kZicboz, kOf64), 64U);
  EXPECT_EQ(cbo_zero_block(kNone, kOf64), 0U) << "a size, but not the instruction";
  EXPECT_EQ(cbo_zero_block(kUnknown, kOf64), 0U);
  EXPECT_EQ(cbo_zero_block(kZicboz, kUnknown), 0U) << "the instruction, but Linux tells no size";
  EXPECT_EQ(cbo_zero_block(kZicboz, kDiffering), 0U) << "CPUs that differ";
}

#if defined(MEMGRAFT_ZEROING_AARCH64) || defined(MEMGRAFT_ZEROING_PPC64) || defined(MEMGRAFT_ZEROING_RISCV64)
#if defined(MEMGRAFT_ZEROING_AARCH64)
constexpr std::string_view family = "dc-zva-";
void clear_block(std::byte* at) { asm volatile("dc zva, %0" : : "r"(at) : "memory"); }
// What another witness than a count of zeroes says; 0: not to be used.
std::size_t said() { return dc_zva_block(read_dczid()); }
#elif defined(MEMGRAFT_ZEROING_PPC64)
constexpr std::string_view family = "dcbz-";
void clear_block(std::byte* at) { asm volatile("dcbz 0, %0" : : "r"(at) : "memory"); }
std::size_t said() { return getauxval(AT_DCACHEBSIZE); }
#else
constexpr std::string_view family = "cbo-zero";
void clear_block(std::byte* at) { asm volatile(".insn i 0x0f, 2, x0, %0, 4" : : "r"(at) : "memory"); }
std::size_t said() {
  std::array pairs = {HwprobePair{.key = kHwprobeExtensions, .value = 0},
                      HwprobePair{.key = kHwprobeZicbozBlockSize, .value = 0}};
  (void)syscall(kHwprobeCall, pairs.data(), pairs.size(), std::size_t{0}, nullptr, 0U);
  return cbo_zero_block(pairs[0], pairs[1]);
}
#endif

// Does the instruction run here? Tried in a child, which it may kill, and counted there.
std::size_t counted_in_a_child() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    return 0;
  }
  const pid_t child = fork();
  if (child == 0) {
    const std::size_t bytes = line_size(clear_block);
    _exit(write(ends[1], &bytes, sizeof bytes) == sizeof bytes ? 0 : 1);
  }
  close(ends[1]);
  std::size_t bytes = 0;
  if (read(ends[0], &bytes, sizeof bytes) != sizeof bytes) {
    bytes = 0;
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return bytes;
}

TEST(Blocks, AreWhatTheInstructionOfThisCpuZeroes) {
  std::size_t count = 0;
  const memgraft_zero_kernel* first = memgraft_zero_kernels(&count);
  const std::span kernels(first, count);
  const auto kernel = std::ranges::find_if(
      kernels, [](const auto& each) { return std::string_view(each.name).starts_with(family); });
  ASSERT_NE(kernel, kernels.end());
  const std::size_t counted = counted_in_a_child();
  EXPECT_EQ(kernel->available, said() != 0);
  if (!kernel->available) {
    GTEST_SKIP() << kernel->name << " is not available on this CPU: the instruction "
                 << (counted == 0 ? "does not run either" : "runs, but nothing says so");
  }
  EXPECT_EQ(counted, said());
}
#endif

}  // namespace
}  // namespace memgraft::zeroing
