// Checks the place of spare.h with Relacy, as model.cpp does it with a buffer. Every piece is plain memory
// that whoever has it writes: a piece that two threads have is reported as a race.
//
// Usage: model sound | model mistaken, as model.cpp.
#include <array>
#include <atomic>

// After all of the standard library: see there.
#include "memgraft/allocation/spare.h"
#include "memgraft/relacy_run.h"

namespace memgraft::allocation {
namespace {

// As in model.cpp, which says how they are replaced.
struct Model {
  using Word = RelacyAtomic<State>;
  using Pointer = RelacyAtomic<std::byte*>;
  using Size = RelacyAtomic<std::uint64_t>;
};

// Pieces 1, 2, ...: as long as their number and at an address that says it.
Rest piece(std::uint64_t number) {
  return {.start = reinterpret_cast<std::byte*>(to_bytes(Words(number)).count()), .words = Words(number)};
}

template <class Scenario, unsigned threads>
struct Pieces : rl::test_suite<Scenario, threads> {
  Spare<Model> spare;
  std::array<rl::var<int>, 4> written;
  // How many have each: every thread counts its own, negative where it gave one away.
  std::array<std::array<int, 4>, threads> had{};

  void have(unsigned thread, std::uint64_t number) {
    written.at(number)($) = static_cast<int>(thread);
    ++had.at(thread).at(number);
  }
  void offer(unsigned thread, std::uint64_t number) {
    have(thread, number);
    if (spare.put(piece(number))) {
      --had.at(thread).at(number);
    }
  }
  void ask(unsigned thread, std::uint64_t number) {
    const std::byte* const found = spare.take(Words(number));
    if (found != nullptr) {
      RL_ASSERT(found == piece(number).start);
      have(thread, number);
    }
  }
  // Nobody lost one, and none is there twice.
  void after() {
    const Rest left = spare.close();
    RL_ASSERT(left.start == piece(left.words.count()).start);
    RL_ASSERT(spare.close().words == 0_words);
    for (std::uint64_t number = 1; number < written.size(); ++number) {
      int owners = left.words == Words(number) ? 1 : 0;
      for (const auto& of_thread : had) {
        owners += of_thread.at(number);
      }
      RL_ASSERT(owners == 0 || owners == 1);
      RL_ASSERT(owners == 1 || number > offered);
    }
  }
  std::uint64_t offered = 0;
};

// Both offer and ask for either.
struct Both : Pieces<Both, 2> {
  Both() { offered = 2; }
  void thread(unsigned index) {
    offer(index, index + 1);
    ask(index, 2 - index);
    ask(index, index + 1);
  }
};

// One offers two after each other, two ask.
struct OneOffers : Pieces<OneOffers, 3> {
  OneOffers() { offered = 2; }
  void thread(unsigned index) {
    if (index == 0) {
      offer(0, 1);
      offer(0, 2);
      return;
    }
    ask(index, 1);
    ask(index, 2);
  }
};

// Two want the same.
struct TwoAsk : Pieces<TwoAsk, 2> {
  TwoAsk() { offered = 1; }
  void before() { offer(0, 1); }
  void thread(unsigned index) { ask(index, 1); }
};

bool all_sound() {
  return sound_in_every_schedule<TwoAsk>("two ask") && sound_in_every_schedule<Both>("both") &&
         sound_in_every_schedule<OneOffers>("one offers");
}

}  // namespace
}  // namespace memgraft::allocation

int main(int count, char** arguments) {
  return memgraft::expected_outcome(count, arguments, memgraft::allocation::all_sound);
}
