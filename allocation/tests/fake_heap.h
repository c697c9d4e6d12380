// A heap that hands out its memory from one end to the other, and knows what became of every word.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "memgraft/allocation/hierarchy.h"

namespace memgraft::allocation {

class FakeHeap {
 public:
  enum class Word : std::uint8_t { free, buffered, taken, discarded };

  explicit FakeHeap(Words words) : memory_(to_bytes(words).count()), words_(words.count()) { current = this; }
  ~FakeHeap() { current = nullptr; }
  FakeHeap(const FakeHeap&) = delete;
  FakeHeap& operator=(const FakeHeap&) = delete;

  [[nodiscard]] static Heap functions() { return {.allocate = allocate, .discard = discard}; }
  // Called within each allocation, with the thread in the midst of its refill.
  std::function<void()> collect = [] {};
  void* expected_context = nullptr;
  std::atomic<std::size_t> last_node{0};  // for which it was asked last

  // What take() returned: each word once, and nobody else's.
  void own(const Hierarchy::Taken& taken) { become(taken.start, taken.words, Word::buffered, Word::taken); }
  // What a thread takes from the heap itself.
  std::byte* take(Words wanted) {
    const std::uint64_t words = wanted.count();
    std::uint64_t at = top_.load(std::memory_order_relaxed);
    do {
      if (at + words > words_.size()) {
        return nullptr;
      }
    } while (!top_.compare_exchange_weak(at, at + words, std::memory_order_relaxed));
    std::byte* const start = memory_.data() + to_bytes(Words(at)).count();
    become(start, wanted, Word::free, Word::buffered);
    return start;
  }

  [[nodiscard]] Words count(Word what) const {
    std::uint64_t found = 0;
    for (const auto& word : words_) {
      found += word.load(std::memory_order_relaxed) == what ? 1 : 0;
    }
    return Words(found);
  }
  // All of it is free again.
  void empty() {
    for (auto& word : words_) {
      word.store(Word::free, std::memory_order_relaxed);
    }
    top_.store(0, std::memory_order_relaxed);
  }

 private:
  static std::byte* allocate(void* context, Words words, std::size_t node) {
    EXPECT_EQ(context, current->expected_context);
    current->last_node = node;
    current->collect();
    return current->take(words);
  }
  static void discard(Rest rest) {
    EXPECT_GE(rest.words, kLeastRest) << "nothing fits into less";
    current->become(rest.start, rest.words, Word::buffered, Word::discarded);
  }
  void become(const std::byte* start, Words words, Word before, Word after) {
    const auto first = static_cast<std::uint64_t>(start - memory_.data()) / kBytesPerWord;
    for (std::uint64_t at = first; at < first + words.count(); ++at) {
      Word expected = before;
      ASSERT_TRUE(words_.at(at).compare_exchange_strong(expected, after, std::memory_order_relaxed))
          << "word " << at << " is " << static_cast<int>(expected);
    }
  }

  static inline FakeHeap* current = nullptr;
  std::vector<std::byte> memory_;
  std::vector<std::atomic<Word>> words_;
  std::atomic<std::uint64_t> top_{0};
};

}  // namespace memgraft::allocation
