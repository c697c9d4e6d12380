// Checks the buffer of buffer.h with Relacy, which runs it in every schedule, or every one with a bounded
// number of preemptions, under the memory model of C++11. Every word of the heap is plain memory that whoever
// is handed it writes: a word that two threads are handed is reported as a race.
//
// Usage: model sound | model mistaken. The exit status is 0 if the checker finds no fault, or some fault,
// respectively. model.cmake makes the mistaken ones.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <optional>

// After all of the standard library: see there.
#include "memgraft/allocation/buffer.h"
#include "memgraft/relacy_run.h"

namespace memgraft::allocation {
namespace {

struct Model {
  using Word = RelacyAtomic<State>;
  using Pointer = RelacyAtomic<std::byte*>;
  using Size = RelacyAtomic<std::uint64_t>;

  // As Hierarchy does it.
  Replaced replace(Word& word, State expected, State desired) const {
    return word.compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)
               ? Replaced::yes
               : Replaced::no;
  }
};

constexpr Words kChunkWords = 4_words;
constexpr std::uint64_t kChunks = 3;
constexpr Words kTakenWords = 2_words;

// A heap of a few chunks. Its addresses are numbers of words.
template <class Scenario, unsigned threads>
struct Heap : rl::test_suite<Scenario, threads> {
  Buffer<Model> buffer;
  std::array<rl::var<int>, (kChunkWords * kChunks).count()> words;
  rl::atomic<unsigned> chunks_handed_out;
  // Each thread's own; a filler's is negative.
  struct Owned {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    int owner = 0;
  };
  static constexpr std::size_t kMostOwned = 8;
  static constexpr std::size_t kMostOwners = 10;
  std::array<std::array<Owned, kMostOwned>, kMostOwners> owned{};

  Heap() { chunks_handed_out.store(0, rl::mo_relaxed, $); }

  void own(const std::byte* start, Words taken, int owner) {
    const std::uint64_t count = taken.count();
    if (count == 0) {
      return;
    }
    const auto first = reinterpret_cast<std::uintptr_t>(start) / kBytesPerWord - 1;
    for (std::uint64_t at = first; at < first + count; ++at) {
      RL_ASSERT(at < words.size());
      words[at]($) = owner;
    }
    std::array<Owned, kMostOwned>& mine = owned[static_cast<std::size_t>(std::abs(owner))];
    const auto unused = std::ranges::find(mine, 0U, &Owned::count);
    RL_ASSERT(unused != mine.end());
    *unused = {.first = first, .count = count, .owner = owner};
  }

  // Whatever a thread was handed is still its own at the end.
  void after() {
    for (const auto& of_thread : owned) {
      for (const Owned& one : of_thread) {
        for (std::uint64_t at = one.first; at < one.first + one.count; ++at) {
          RL_ASSERT(words[at]($) == one.owner);
        }
      }
    }
  }

  std::byte* chunk() {
    const unsigned number = chunks_handed_out.fetch_add(1, rl::mo_relaxed, $);
    return number < kChunks ? address_behind(number * kChunkWords) : nullptr;
  }
  static std::byte* address_behind(Words before) {
    return reinterpret_cast<std::byte*>(to_bytes(before + 1_words).count());  // not the null pointer
  }

  // Listing 1 and 2 for one buffer. Returns whether memory was had.
  bool take(int owner, Words count = kTakenWords) {
    const Model model;
    const auto taken = buffer.take(model, count, count);
    switch (taken.outcome) {
      case Buffer<Model>::Outcome::taken:
        own(taken.start, taken.words, owner);
        return true;
      case Buffer<Model>::Outcome::full: {
        const auto rest = buffer.start_refill(model, taken.seen);
        if (!rest) {
          return false;
        }
        RL_ASSERT(rest->words == 0_words || (rest->words >= kLeastRest && rest->words <= kChunkWords));
        own(rest->start, rest->words, -owner);
        std::byte* const fresh = chunk();
        if (fresh == nullptr) {
          buffer.give_up_refill();
          return false;
        }
        buffer.finish_refill(fresh, kChunkWords, count);
        own(fresh, count, owner);
        return true;
      }
      default:
        return false;
    }
  }
};

// Two threads take until the first chunk is used up, and beyond.
struct TwoTakers : Heap<TwoTakers, 2> {
  void thread(unsigned index) {
    take(static_cast<int>(index) + 1);
    take(static_cast<int>(index) + 1);
  }
};

// Three, with a buffer that has one part left.
struct ThreeTakers : Heap<ThreeTakers, 3> {
  void before() { take(9); }
  void thread(unsigned index) {
    take(static_cast<int>(index) + 1);
    take(static_cast<int>(index) + 1);
  }
};

// Two who want what would leave a rest of one word.
struct Rests : Heap<Rests, 2> {
  void before() { take(9, 1_words); }
  void thread(unsigned index) { take(static_cast<int>(index) + 1, 2_words); }
};

// The next filling is as full as the one that a thread looked at: it must not take what it saw for still
// valid.
struct LooksTheSame : Heap<LooksTheSame, 2> {
  void before() { take(9); }
  void thread(unsigned index) {
    if (index == 0) {
      take(1);
      return;
    }
    const Model model;
    // Takes the rest, and refills with a chunk of which it has first taken as much as was taken before.
    const auto rest = buffer.take(model, kTakenWords, kTakenWords);
    if (rest.outcome != Buffer<Model>::Outcome::taken) {
      return;
    }
    own(rest.start, rest.words, 2);
    const auto full = buffer.take(model, kChunkWords, kChunkWords);
    if (full.outcome == Buffer<Model>::Outcome::full && buffer.start_refill(model, full.seen)) {
      std::byte* const fresh = chunk();
      buffer.finish_refill(fresh, kChunkWords, kTakenWords);
      own(fresh, kTakenWords, 2);
    }
  }
};

bool all_sound() {
  constexpr unsigned kPreemptions = 2;
  return sound_in_every_schedule<Rests>("rests") &&
         sound_with<LooksTheSame>(kPreemptions + 1, "looks the same") &&
         sound_with<TwoTakers>(kPreemptions + 2, "two takers") &&
         sound_with<ThreeTakers>(kPreemptions, "three takers");
}

}  // namespace
}  // namespace memgraft::allocation

int main(int count, char** arguments) {
  return memgraft::expected_outcome(count, arguments, memgraft::allocation::all_sound);
}
