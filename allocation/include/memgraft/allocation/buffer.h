// One allocation buffer between a heap and its threads' buffers, from which any thread may take memory and
// which any thread may refill (C. M. Kirsch, H. Payer, H. Röck, "Hierarchical PLABs, CLABs, TLABs in
// Hotspot", University of Salzburg, undated, about 2012, listing 2). Lock-free: a thread that finds the
// buffer being refilled is told so and goes elsewhere.
//
// A template, so that the model checker in tests/ runs the very code that ships; `Policy` is what differs:
//
//   Word, Pointer, Size   std::atomic of what they are named for, or the checker's
//   replace(word, expected, desired)   compare-and-swap, in one of two ways (see Replaced)
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "memgraft/units.h"

namespace memgraft::allocation {

// What is left of a buffer is either nothing or can hold an object: a heap that is walked must find one
// there.
inline constexpr Words kLeastRest = 2_words;
// Of a filling: 32 GiB less two words.
inline constexpr Words kMostWords = 0xfffffffe_words;

// How many words were handed out, and of which filling. Every change of the buffer changes it, and no value
// comes back (a wrong success would take four billion refills between a thread's two looks).
using State = std::uint64_t;

enum class Replaced : std::uint8_t {
  yes,
  no,    // the word was another
  moved  // the calling thread is no longer on the CPU that the buffer belongs to
};

struct Rest {
  std::byte* start = nullptr;
  Words words = 0_words;
};

template <class Policy>
class Buffer {
 public:
  enum class Outcome : std::uint8_t { taken, full, refilling, moved };
  struct Taken {
    Outcome outcome = Outcome::refilling;
    std::byte* start = nullptr;
    Words words = 0_words;
    State seen = 0;             // for start_refill
    std::uint64_t retries = 0;  // lost to other threads
  };

  // `wanted` words, or all that is left where that is less, but at least `least` and a quarter of them: so
  // the buffer's end is not wasted, and nobody is back at once.
  // Inlined always: GCC 12 would call it, and then a request takes up to a fifth longer.
  [[gnu::always_inline]] Taken take(const Policy& policy, Words least, Words wanted) {
    Taken result{.seen = state_.load(std::memory_order_acquire)};  // acquire: where this filling lies
    while (true) {
      const Words used = used_of(result.seen);
      if (used == kRefilling) {
        result.outcome = Outcome::refilling;
        return result;
      }
      // Relaxed, both: of this filling or a later one; if of a later one, replace() fails.
      const Words all = Words(words_.load(std::memory_order_relaxed));
      std::byte* const start = start_.load(std::memory_order_relaxed);
      const Words words = fitting(least, wanted, all - std::min(used, all));
      if (words == 0_words) {
        result.outcome = Outcome::full;
        return result;
      }
      const Replaced replaced = policy.replace(state_, result.seen, result.seen + words.count());
      if (replaced == Replaced::yes) {
        result.outcome = Outcome::taken;
        result.start = start + to_bytes(used).count();
        result.words = words;
        return result;
      }
      if (replaced == Replaced::moved) {
        result.outcome = Outcome::moved;
        return result;
      }
      ++result.retries;
      result.seen = state_.load(std::memory_order_acquire);  // acquire: as above
    }
  }

  // Makes the calling thread the one that refills, if the buffer is still as take() saw it: then what is left
  // of it, which is the caller's now. (The listing takes any old value but null for success; the swap has
  // succeeded only if the old value is the expected one, else two threads may refill at once.)
  std::optional<Rest> start_refill(const Policy& policy, State seen) {
    const Rest rest{.start = start_.load(std::memory_order_relaxed),
                    .words = Words(words_.load(std::memory_order_relaxed))};
    if (policy.replace(state_, seen, with_used(seen, kRefilling)) != Replaced::yes) {
      return std::nullopt;
    }
    return rest_after(rest, used_of(seen));
  }

  // By the thread that refills: the new filling, of which it takes the first words itself.
  void finish_refill(std::byte* start, Words words, Words taken) {
    start_.store(start, std::memory_order_relaxed);
    words_.store(words.count(), std::memory_order_relaxed);
    publish(taken);
  }

  // The same without one: the buffer is empty.
  void give_up_refill() { finish_refill(nullptr, 0_words, 0_words); }

  // With every thread stopped: empties the buffer and returns what was left. One that is being refilled is
  // its refiller's, who has got the rest already.
  std::optional<Rest> close() {
    const State seen = state_.load(std::memory_order_relaxed);
    if (used_of(seen) == kRefilling) {
      return std::nullopt;
    }
    const Rest rest = rest_after({.start = start_.load(std::memory_order_relaxed),
                                  .words = Words(words_.load(std::memory_order_relaxed))},
                                 used_of(seen));
    give_up_refill();
    return rest;
  }

 private:
  static constexpr State kUsedMask = 0xffffffff;
  static constexpr Words kRefilling = 0xffffffff_words;
  static constexpr State kNextFilling = State{1} << 32U;

  static Words used_of(State state) { return Words(state & kUsedMask); }
  static State with_used(State state, Words used) { return (state & ~kUsedMask) | used.count(); }
  static Words fitting(Words least, Words wanted, Words left) {
    constexpr std::uint64_t kLeastPart = 4;
    if (wanted == left || wanted + kLeastRest <= left) {
      return wanted;
    }
    return left >= least && left >= wanted / kLeastPart && left <= wanted ? left : 0_words;
  }
  static Rest rest_after(Rest all, Words used) {
    return {.start = all.start + to_bytes(used).count(), .words = all.words - used};
  }
  void publish(Words taken) {
    const State before = state_.load(std::memory_order_relaxed);
    // Release: where the filling lies, before whoever takes of it reads that.
    state_.store(with_used(before, taken) + kNextFilling, std::memory_order_release);
  }

  typename Policy::Word state_{0};
  typename Policy::Pointer start_{nullptr};
  typename Policy::Size words_{0};
};

}  // namespace memgraft::allocation
