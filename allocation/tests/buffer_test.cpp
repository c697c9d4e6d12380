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
  void fill(Words words, Words taken) {
    (void)buffer.close();
    const auto seen = buffer.take(plain, 1_words, 1_words).seen;
    ASSERT_TRUE(buffer.start_refill(plain, seen));
    buffer.finish_refill(memory.data(), words, taken);
  }
  std::byte* at(Words before) { return memory.data() + to_bytes(before).count(); }

  std::vector<std::byte> memory = std::vector<std::byte>(to_bytes(100_words).count());
  Plain plain;
  PlainBuffer buffer;
};

TEST_F(BufferTest, IsEmptyAtFirst) {
  const auto taken = buffer.take(plain, 1_words, 8_words);
  EXPECT_EQ(taken.outcome, Outcome::full);
  const auto rest = buffer.start_refill(plain, taken.seen);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->words, 0_words);
}

TEST_F(BufferTest, HandsOutOnePartAfterTheOther) {
  fill(100_words, 10_words);
  const auto first = buffer.take(plain, 20_words, 20_words);
  const auto second = buffer.take(plain, 20_words, 20_words);
  EXPECT_EQ(first.start, at(10_words));
  EXPECT_EQ(second.start, at(30_words));
  EXPECT_EQ(second.words, 20_words);
}

TEST_F(BufferTest, NeverLeavesOneWord) {
  fill(100_words, 10_words);
  EXPECT_EQ(buffer.take(plain, 89_words, 89_words).outcome, Outcome::full);
  EXPECT_EQ(buffer.take(plain, 88_words, 88_words).outcome, Outcome::taken);
  EXPECT_EQ(buffer.take(plain, 2_words, 2_words).outcome, Outcome::taken);
}

TEST_F(BufferTest, GivesItsEndToWhoeverTakesLess) {
  fill(100_words, 60_words);
  EXPECT_EQ(buffer.take(plain, 50_words, 80_words).outcome, Outcome::full) << "less than the least";
  EXPECT_EQ(buffer.take(plain, 1_words, 164_words).outcome, Outcome::full) << "less than a quarter";
  const auto taken = buffer.take(plain, 30_words, 80_words);
  EXPECT_EQ(taken.outcome, Outcome::taken);
  EXPECT_EQ(taken.start, at(60_words));
  EXPECT_EQ(taken.words, 40_words);
  EXPECT_EQ(buffer.take(plain, 1_words, 1_words).outcome, Outcome::full);
}

TEST_F(BufferTest, IsNobodysWhileItIsRefilled) {
  fill(100_words, 90_words);
  const auto full = buffer.take(plain, 20_words, 20_words);
  const auto rest = buffer.start_refill(plain, full.seen);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->start, at(90_words));
  EXPECT_EQ(rest->words, 10_words);
  EXPECT_EQ(buffer.take(plain, 1_words, 1_words).outcome, Outcome::refilling);
  EXPECT_FALSE(buffer.start_refill(plain, full.seen)) << "a second one";
  EXPECT_FALSE(buffer.close()) << "its refiller has the rest";
  buffer.give_up_refill();
  EXPECT_EQ(buffer.take(plain, 1_words, 1_words).outcome, Outcome::full);
}

TEST_F(BufferTest, TriesAgainWhereAnotherThreadTook) {
  fill(100_words, 0_words);
  int others = 2;
  plain.meanwhile = [&](Plain::Word& word) {
    if (others-- > 0) {
      word.fetch_add(10);
    }
  };
  const auto taken = buffer.take(plain, 10_words, 10_words);
  EXPECT_EQ(taken.outcome, Outcome::taken);
  EXPECT_EQ(taken.start, at(20_words));
  EXPECT_EQ(taken.retries, 2U);
}

// A buffer that was refilled with the same memory, and is as full as before, is another buffer.
TEST_F(BufferTest, NoticesARefillThatLooksTheSame) {
  fill(100_words, 60_words);
  const auto full = buffer.take(plain, 80_words, 80_words);
  ASSERT_EQ(full.outcome, Outcome::full);
  fill(100_words, 60_words);
  EXPECT_FALSE(buffer.start_refill(plain, full.seen));
}

TEST_F(BufferTest, ClosesToNothing) {
  fill(100_words, 60_words);
  const auto rest = buffer.close();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->start, at(60_words));
  EXPECT_EQ(rest->words, 40_words);
  EXPECT_EQ(buffer.close()->words, 0_words);
  EXPECT_EQ(buffer.take(plain, 1_words, 1_words).outcome, Outcome::full);
}

}  // namespace
}  // namespace memgraft::allocation
