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

namespace memgraft::allocation {

// Sizes are counted in words of 8 bytes, in which HotSpot allocates.
inline constexpr std::size_t kWordBytes = 8;
// What is left of a buffer is either nothing or can hold an object: a heap that is walked must find one
// there.
inline constexpr std::uint64_t kLeastRestWords = 2;
// 32 GiB less a word.
inline constexpr std::uint64_t kMostWords = 0xfffffffe;

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
  std::uint64_t words = 0;
};

template <class Policy>
class Buffer {
 public:
  enum class Outcome : std::uint8_t { taken, full, refilling, moved };
  struct Taken {
    Outcome outcome = Outcome::refilling;
    std::byte* start = nullptr;
    std::uint64_t words = 0;
    State seen = 0;             // for start_refill
    std::uint64_t retries = 0;  // lost to other threads
  };

  // `wanted` words, or all that is left where that is less, but at least `least` and a quarter of them: so
  // the buffer's end is not wasted, and nobody is back at once.
  Taken take(const Policy& policy, std::uint64_t least, std::uint64_t wanted) {
    Taken result{.seen = state_.load(std::memory_order_acquire)};  // acquire: where this filling lies
    while (true) {
      const std::uint64_t used = used_words(result.seen);
      if (used == kRefilling) {
        result.outcome = Outcome::refilling;
        return result;
      }
      // Relaxed, both: of this filling or a later one; if of a later one, replace() fails.
      const std::uint64_t all = words_.load(std::memory_order_relaxed);
      std::byte* const start = start_.load(std::memory_order_relaxed);
      const std::uint64_t words = fitting(least, wanted, all - std::min(used, all));
      if (words == 0) {
        result.outcome = Outcome::full;
        return result;
      }
      const Replaced replaced = policy.replace(state_, result.seen, result.seen + words);
      if (replaced == Replaced::yes) {
        result.outcome = Outcome::taken;
        result.start = start + (used * kWordBytes);
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
                    .words = words_.load(std::memory_order_relaxed)};
    if (policy.replace(state_, seen, (seen & ~kUsedMask) | kRefilling) != Replaced::yes) {
      return std::nullopt;
    }
    return rest_after(rest, used_words(seen));
  }

  // By the thread that refills: the new filling, of which it takes the first words itself.
  void finish_refill(std::byte* start, std::uint64_t words, std::uint64_t taken_words) {
    start_.store(start, std::memory_order_relaxed);
    words_.store(words, std::memory_order_relaxed);
    publish(taken_words);
  }

  // The same without one: the buffer is empty.
  void give_up_refill() { finish_refill(nullptr, 0, 0); }

  // With every thread stopped: empties the buffer and returns what was left. One that is being refilled is
  // its refiller's, who has got the rest already.
  std::optional<Rest> close() {
    const State seen = state_.load(std::memory_order_relaxed);
    if (used_words(seen) == kRefilling) {
      return std::nullopt;
    }
    const Rest rest = rest_after(
        {.start = start_.load(std::memory_order_relaxed), .words = words_.load(std::memory_order_relaxed)},
        used_words(seen));
    give_up_refill();
    return rest;
  }

 private:
  static constexpr State kUsedMask = 0xffffffff;
  static constexpr State kRefilling = 0xffffffff;
  static constexpr State kNextFilling = State{1} << 32U;

  static std::uint64_t used_words(State state) { return state & kUsedMask; }
  static std::uint64_t fitting(std::uint64_t least, std::uint64_t wanted, std::uint64_t left) {
    constexpr std::uint64_t kLeastPart = 4;
    if (wanted == left || wanted + kLeastRestWords <= left) {
      return wanted;
    }
    return left >= least && left >= wanted / kLeastPart && left <= wanted ? left : 0;
  }
  static Rest rest_after(Rest all, std::uint64_t used) {
    return {.start = all.start + (used * kWordBytes), .words = all.words - used};
  }
  void publish(std::uint64_t taken_words) {
    const State before = state_.load(std::memory_order_relaxed);
    // Release: where the filling lies, before whoever takes of it reads that.
    state_.store(((before & ~kUsedMask) + kNextFilling) | taken_words, std::memory_order_release);
  }

  typename Policy::Word state_{0};
  typename Policy::Pointer start_{nullptr};
  typename Policy::Size words_{0};
};

}  // namespace memgraft::allocation
