#include "memgraft/allocation/buffer.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace memgraft::allocation {
namespace {

struct Plain {
  using Word = std::atomic<State>;
  using Pointer = std::atomic<std::byte*>;
  using Size = std::atomic<std::uint64_t>;

  // What happens between a thread's look and its swap.
  std::function<void(Word&)> meanwhile = [](Word&) {};

  Replaced replace(Word& word, State expected, State desired) const {
    meanwhile(word);
    return word.compare_exchange_strong(expected, desired) ? Replaced::yes : Replaced::no;
  }
};
using PlainBuffer = Buffer<Plain>;
using Outcome = PlainBuffer::Outcome;

class BufferTest : public testing::Test {
 protected:
  void fill(std::uint64_t words, std::uint64_t taken) {
    (void)buffer.close();
    const auto seen = buffer.take(plain, 1, 1).seen;
    ASSERT_TRUE(buffer.start_refill(plain, seen));
    buffer.finish_refill(memory.data(), words, taken);
  }
  std::byte* at(std::uint64_t word) { return memory.data() + (word * kWordBytes); }

  std::vector<std::byte> memory = std::vector<std::byte>(100 * kWordBytes);
  Plain plain;
  PlainBuffer buffer;
};

TEST_F(BufferTest, IsEmptyAtFirst) {
  const auto taken = buffer.take(plain, 1, 8);
  EXPECT_EQ(taken.outcome, Outcome::full);
  const auto rest = buffer.start_refill(plain, taken.seen);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->words, 0U);
}

TEST_F(BufferTest, HandsOutOnePartAfterTheOther) {
  fill(100, 10);
  const auto first = buffer.take(plain, 20, 20);
  const auto second = buffer.take(plain, 20, 20);
  EXPECT_EQ(first.start, at(10));
  EXPECT_EQ(second.start, at(30));
  EXPECT_EQ(second.words, 20U);
}

TEST_F(BufferTest, NeverLeavesOneWord) {
  fill(100, 10);
  EXPECT_EQ(buffer.take(plain, 89, 89).outcome, Outcome::full);
  EXPECT_EQ(buffer.take(plain, 88, 88).outcome, Outcome::taken);
  EXPECT_EQ(buffer.take(plain, 2, 2).outcome, Outcome::taken);
}

TEST_F(BufferTest, GivesItsEndToWhoeverTakesLess) {
  fill(100, 60);
  EXPECT_EQ(buffer.take(plain, 50, 80).outcome, Outcome::full) << "less than the least";
  EXPECT_EQ(buffer.take(plain, 1, 161 + 3).outcome, Outcome::full) << "less than a quarter";
  const auto taken = buffer.take(plain, 30, 80);
  EXPECT_EQ(taken.outcome, Outcome::taken);
  EXPECT_EQ(taken.start, at(60));
  EXPECT_EQ(taken.words, 40U);
  EXPECT_EQ(buffer.take(plain, 1, 1).outcome, Outcome::full);
}

TEST_F(BufferTest, IsNobodysWhileItIsRefilled) {
  fill(100, 90);
  const auto full = buffer.take(plain, 20, 20);
  const auto rest = buffer.start_refill(plain, full.seen);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->start, at(90));
  EXPECT_EQ(rest->words, 10U);
  EXPECT_EQ(buffer.take(plain, 1, 1).outcome, Outcome::refilling);
  EXPECT_FALSE(buffer.start_refill(plain, full.seen)) << "a second one";
  EXPECT_FALSE(buffer.close()) << "its refiller has the rest";
  buffer.give_up_refill();
  EXPECT_EQ(buffer.take(plain, 1, 1).outcome, Outcome::full);
}

TEST_F(BufferTest, TriesAgainWhereAnotherThreadTook) {
  fill(100, 0);
  int others = 2;
  plain.meanwhile = [&](Plain::Word& word) {
    if (others-- > 0) {
      word.fetch_add(10);
    }
  };
  const auto taken = buffer.take(plain, 10, 10);
  EXPECT_EQ(taken.outcome, Outcome::taken);
  EXPECT_EQ(taken.start, at(20));
  EXPECT_EQ(taken.retries, 2U);
}

// A buffer that was refilled with the same memory, and is as full as before, is another buffer.
TEST_F(BufferTest, NoticesARefillThatLooksTheSame) {
  fill(100, 60);
  const auto full = buffer.take(plain, 80, 80);
  ASSERT_EQ(full.outcome, Outcome::full);
  fill(100, 60);
  EXPECT_FALSE(buffer.start_refill(plain, full.seen));
}

TEST_F(BufferTest, ClosesToNothing) {
  fill(100, 60);
  const auto rest = buffer.close();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->start, at(60));
  EXPECT_EQ(rest->words, 40U);
  EXPECT_EQ(buffer.close()->words, 0U);
  EXPECT_EQ(buffer.take(plain, 1, 1).outcome, Outcome::full);
}

}  // namespace
}  // namespace memgraft::allocation
