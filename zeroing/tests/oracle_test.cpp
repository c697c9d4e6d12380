// The oracle itself: it must notice each way in which a kernel can be wrong.
#include "oracle.h"

#include <gtest/gtest.h>

#include <cstring>

namespace memgraft::zeroing::testing {
namespace {

void right(void* at, std::size_t bytes) { std::memset(at, 0, bytes); }
void leaves_the_first(void* at, std::size_t bytes) { std::memset(static_cast<char*>(at) + 1, 0, bytes - 1); }
void leaves_the_last(void* at, std::size_t bytes) { std::memset(at, 0, bytes - 1); }
void writes_before(void* at, std::size_t bytes) { std::memset(static_cast<char*>(at) - 1, 0, bytes + 1); }
void writes_after(void* at, std::size_t bytes) { std::memset(at, 0, bytes + 1); }
void nothing(void* /*at*/, std::size_t /*bytes*/) {}

std::string mistake_of(void (*zero)(void*, std::size_t), std::size_t offset, std::size_t bytes) {
  const GuardedPages pages(1);
  Random random(1);
  std::vector<std::byte> expected;
  return mistake(zero, pages.memory().first(1024), offset, bytes, random, expected);
}

TEST(Oracle, AcceptsARightKernel) { EXPECT_EQ(mistake_of(right, 100, 200), ""); }

TEST(Oracle, NoticesEachMistake) {
  EXPECT_NE(mistake_of(leaves_the_first, 100, 200).find("byte at offset 100 "), std::string::npos);
  EXPECT_NE(mistake_of(leaves_the_last, 100, 200).find("byte at offset 299 "), std::string::npos);
  EXPECT_NE(mistake_of(writes_before, 100, 200).find("byte at offset 99 "), std::string::npos);
  EXPECT_NE(mistake_of(writes_after, 100, 200).find("byte at offset 300 "), std::string::npos);
  EXPECT_NE(mistake_of(nothing, 100, 1).find("(left alone)"), std::string::npos);
}

TEST(Oracle, ScribblesNoZero) {
  const GuardedPages pages(1);
  Random random(2);
  scribble(pages.memory(), random);
  for (const std::byte byte : pages.memory()) {
    ASSERT_NE(byte, std::byte{0});
  }
}

TEST(OracleDeathTest, GuardPagesFault) {
  const GuardedPages pages(1);
  const std::span<std::byte> memory = pages.memory();
  const volatile std::byte* behind = memory.data() + memory.size();
  EXPECT_DEATH(memory[memory.size()] = std::byte{0}, "");
  EXPECT_DEATH(*(memory.data() - 1) = std::byte{0}, "");
  EXPECT_DEATH(static_cast<void>(std::byte{*behind}), "");
}

}  // namespace
}  // namespace memgraft::zeroing::testing
