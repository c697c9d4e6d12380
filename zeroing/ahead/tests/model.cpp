// Checks the protocol of protocol.h with Relacy, which runs it in every schedule, or every one with a bounded
// number of preemptions, under the memory model of C++11: a load may return any older value that the model
// permits, and an access to plain memory that nothing orders with another thread's is reported.
//
// A restartable sequence and membarrier(2) are modelled as what the kernel promises and no more: a sequence
// checks the words and then stores; after expel() there is no store whose check came before it.
//
// Usage: model sound [PREEMPTIONS] | model mistaken. The exit status is 0 if the checker finds no fault, or
// some fault, respectively. CMakeLists.txt makes the mistaken ones.
#include <array>
#include <atomic>
#include <iostream>
#include <span>
#include <string>

// After all of the standard library: see there.
#include "memgraft/relacy_run.h"
#include "protocol.h"

namespace memgraft::zeroing::ahead {
namespace {

using Word = RelacyAtomic<Value>;

#ifndef MEMGRAFT_MODEL_FORGETS
#define MEMGRAFT_MODEL_FORGETS "nothing"
#endif
// What this machine leaves out, to see that the checker notices.
constexpr std::string_view forgotten = MEMGRAFT_MODEL_FORGETS;

constexpr std::size_t block_count = 2;
constexpr std::size_t pieces = 2;
constexpr int dirt = 100;

// The machine of the model: memory of which the helper zeroes one cell as a piece.
template <bool stealing>
class ModelMachine {
 public:
  using Word = ahead::Word;

  ModelMachine() {
    for (auto& cell : cells_) {
      cell($) = dirt;
    }
  }

  rl::var<int>& cell(std::size_t block, std::size_t piece) { return cells_[block * pieces + piece]; }

  // Where the region lies: here, for which generation it was opened. Atomic, as the helper may look too
  // late.
  Word place;

  // By the helper, when it wakes.
  void look() { seen_place_ = place.load(std::memory_order_relaxed); }

  bool zero_piece(Word& work, Value working, Word& block, Value mine, std::size_t index, std::size_t piece) {
    while (true) {
      const unsigned began = expulsions();
      if (forgotten != "work" && work.load(std::memory_order_relaxed) != working) {
        return false;
      }
      if (forgotten != "block" && block.load(std::memory_order_relaxed) != mine) {
        return false;
      }
      if constexpr (!stealing) {
        store(index, piece, mine);
        return true;
      }
      kernel_.lock($);
      const bool still_in_sequence = expulsions_ == began || forgotten == "restart";
      if (still_in_sequence) {
        store(index, piece, mine);
      }
      kernel_.unlock($);
      if (still_in_sequence) {
        return true;
      }
    }
  }

  void drain() {}

  bool expel() {
    if (stealing && forgotten != "expel") {
      kernel_.lock($);
      ++expulsions_;
      kernel_.unlock($);
    }
    return stealing;
  }

  void wait(unsigned /*turn*/) { rl::yield(1, $); }

 private:
  void store(std::size_t index, std::size_t piece, Value mine) {
    RL_ASSERT(seen_place_ == generation_of(mine));
    cell(index, piece)($) = 0;
  }

  unsigned expulsions() {
    if constexpr (!stealing) {
      return 0;
    }
    kernel_.lock($);
    const unsigned expulsions = expulsions_;
    kernel_.unlock($);
    return expulsions;
  }

  std::array<rl::var<int>, block_count * pieces> cells_;
  Value seen_place_ = 0;
  rl::mutex kernel_;
  unsigned expulsions_ = 0;  // under kernel_
};

// What all scenarios share: a region that is open in generation 1, and what threads do with it.
template <class Scenario, bool stealing, unsigned threads>
struct Nursery : rl::test_suite<Scenario, threads> {
  ModelMachine<stealing> machine;
  Word work;
  std::array<Word, block_count> blocks;

  void before() { open(1); }

  Protocol<ModelMachine<stealing>> protocol() { return {machine, work}; }

  void open(Generation generation) {
    machine.place.store(generation, std::memory_order_relaxed);
    protocol().open(generation);
  }

  void help(unsigned wakes, std::size_t count, std::size_t pieces_each) {
    auto helper = protocol();
    for (unsigned wake = 0; wake < wakes; ++wake) {
      const Value seen = work.load(std::memory_order_acquire);
      if (phase_of(seen) != Phase::open) {
        continue;
      }
      machine.look();
      for (std::size_t block = 0; block < count; ++block) {
        if (helper.help(blocks[block], generation_of(seen), block, pieces_each) == Helped::closed) {
          break;
        }
      }
    }
  }

  void take(std::size_t block, std::size_t piece, Generation generation, int mark) {
    auto taker = protocol();
    const Found found = taker.take(blocks[block], generation);
    if (found == Found::revoked || found == Found::stolen) {
      taker.settle({&blocks[block], 1}, generation);
    }
    rl::var<int>& cell = machine.cell(block, piece);
    if (found != Found::ready) {
      cell($) = 0;
    }
    RL_ASSERT(cell($) == 0);  // what was handed out is zero
    cell($) = mark;
  }

  // What a collector does to a nursery: anything.
  void soil() {
    for (std::size_t cell = 0; cell < block_count * pieces; ++cell) {
      machine.cell(cell / pieces, cell % pieces)($) = dirt;
    }
  }

  // From the end of the first collection to that of the second.
  void open_once_more() {
    open(2);
    take(0, 0, 2, 3);
    protocol().close(2);
    RL_ASSERT(machine.cell(0, 0)($) == 3);
    soil();
  }
};

// The helper in one piece of one block, against who closes, and perhaps opens again and allocates.
template <bool stealing, bool opening_again>
struct Closing : Nursery<Closing<stealing, opening_again>, stealing, 2> {
  void thread(unsigned index) {
    if (index == 0) {
      this->help(1, 1, 1);
      return;
    }
    this->protocol().close(1);
    this->soil();
    if constexpr (opening_again) {
      this->open_once_more();
    }
  }
};

// The helper against two threads that are handed parts of one block.
template <bool stealing>
struct Neighbours : Nursery<Neighbours<stealing>, stealing, 3> {
  void thread(unsigned index) {
    if (index == 0) {
      this->help(1, 1, pieces);
    } else {
      this->take(0, index - 1, 1, static_cast<int>(index));
    }
  }
  void after() {
    RL_ASSERT(this->machine.cell(0, 0)($) == 1);  // and is its owner's ever after
    RL_ASSERT(this->machine.cell(0, 1)($) == 2);
  }
};

// Both, with two blocks. Who arrives last of the allocating threads is the collector too.
template <bool stealing>
struct Collections : Nursery<Collections<stealing>, stealing, 3> {
  Word arrived;

  void thread(unsigned index) {
    if (index == 0) {
      this->help(2, block_count, pieces);
      return;
    }
    if (index == 1) {
      this->take(0, 0, 1, 1);
    } else {
      this->take(0, 1, 1, 2);
      this->take(1, 0, 1, 2);
      this->take(1, 1, 1, 2);
    }
    // acq_rel: stands for the stopping of the world
    if (arrived.fetch_add(1, std::memory_order_acq_rel) == 1) {
      collect();
    }
  }

 private:
  void collect() {
    this->protocol().close(1);
    RL_ASSERT(this->machine.cell(0, 0)($) == 1);
    for (std::size_t cell = 1; cell < block_count * pieces; ++cell) {
      RL_ASSERT(this->machine.cell(cell / pieces, cell % pieces)($) == 2);
    }
    this->soil();
    this->open_once_more();
  }
};

bool all_sound(unsigned preemptions) {
  return sound_in_every_schedule<Closing<true, false>>("closing, stealing") &&
         sound_in_every_schedule<Closing<false, false>>("closing, waiting") &&
         sound_with<Closing<true, true>>(preemptions + 2, "opening again, stealing") &&
         sound_with<Closing<false, true>>(preemptions + 2, "opening again, waiting") &&
         sound_with<Neighbours<true>>(preemptions + 1, "neighbours, stealing") &&
         sound_with<Neighbours<false>>(preemptions + 1, "neighbours, waiting") &&
         sound_with<Collections<true>>(preemptions, "collections, stealing") &&
         sound_with<Collections<false>>(preemptions, "collections, waiting");
}

}  // namespace
}  // namespace memgraft::zeroing::ahead

int main(int argc, char** argv) {
  const unsigned preemptions = argc > 2 ? static_cast<unsigned>(std::stoul(argv[2])) : 2;
  return memgraft::expected_outcome(argc, argv,
                                    [&] { return memgraft::zeroing::ahead::all_sound(preemptions); });
}
