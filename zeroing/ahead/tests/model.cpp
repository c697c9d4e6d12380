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
#include <string_view>

// After all of the standard library, as it has macros of the names of its memory orders and more.
#include <relacy/relacy.hpp>
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

#include "protocol.h"

namespace memgraft::zeroing::ahead {
namespace {

rl::memory_order model_order(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return rl::mo_relaxed;
    case std::memory_order_acquire:
      return rl::mo_acquire;
    case std::memory_order_release:
      return rl::mo_release;
    case std::memory_order_acq_rel:
      return rl::mo_acq_rel;
    default:
      return rl::mo_seq_cst;
  }
}

/// Relacy's atomic with the standard's names.
class Word {
 public:
  Word() { word_.store(0, rl::mo_relaxed, $); }
  Value load(std::memory_order order) const { return word_.load(model_order(order), $); }
  void store(Value value, std::memory_order order) { word_.store(value, model_order(order), $); }
  Value fetch_add(Value more, std::memory_order order) {
    return word_.fetch_add(more, model_order(order), $);
  }
  bool compare_exchange_strong(Value& expected, Value value, std::memory_order success,
                               std::memory_order failure) {
    const bool exchanged =
        word_.compare_exchange_strong(expected, value, model_order(success), $, rl::mo_relaxed, $);
    // Relacy knows C++11, where a failure's order was at most the success's. The fence makes the load what it
    // says.
    if (!exchanged && failure == std::memory_order_acquire) {
      rl::atomic_thread_fence(rl::mo_acquire, $);
    }
    return exchanged;
  }

 private:
  rl::atomic<Value> word_;
};

#ifndef MEMGRAFT_MODEL_FORGETS
#define MEMGRAFT_MODEL_FORGETS "nothing"
#endif
/// What this machine leaves out, to see that the checker notices.
constexpr std::string_view forgotten = MEMGRAFT_MODEL_FORGETS;

constexpr std::size_t block_count = 2;
constexpr std::size_t pieces = 2;
constexpr int dirt = 100;

/// The machine of the model: memory of which the helper zeroes one cell as a piece.
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

  /// Where the region lies: here, for which generation it was opened. Atomic, as the helper may look too
  /// late.
  Word place;

  /// By the helper, when it wakes.
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
    if constexpr (stealing) {
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

/// What all scenarios share: a region that is open in generation 1, and what threads do with it.
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

  /// What a collector does to a nursery: anything.
  void soil() {
    for (std::size_t cell = 0; cell < block_count * pieces; ++cell) {
      machine.cell(cell / pieces, cell % pieces)($) = dirt;
    }
  }
};

/// The helper in one piece of one block, against who closes.
template <bool stealing>
struct Stopping : Nursery<Stopping<stealing>, stealing, 2> {
  void thread(unsigned index) {
    if (index == 0) {
      this->help(1, 1, 1);
      return;
    }
    this->protocol().close(1);
    this->soil();
  }
};

/// The same against who opens again, and allocates.
template <bool stealing>
struct Closing : Nursery<Closing<stealing>, stealing, 2> {
  void thread(unsigned index) {
    if (index == 0) {
      this->help(1, 1, 1);
      return;
    }
    this->protocol().close(1);
    this->soil();
    this->open(2);
    this->take(0, 0, 2, 3);
    this->protocol().close(2);
    RL_ASSERT(this->machine.cell(0, 0)($) == 3);
    this->soil();
  }
};

/// The helper against two threads that are handed parts of one block.
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

/// Both, with two blocks. Who arrives last of the allocating threads is the collector too.
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
    this->open(2);
    this->take(0, 0, 2, 3);
    this->protocol().close(2);
    RL_ASSERT(this->machine.cell(0, 0)($) == 3);
    this->soil();
  }
};

constexpr unsigned every_schedule = 0;

/// Whether the checker finds no fault. `preemptions`: in every schedule with so many, or simply every
/// schedule.
template <class Scenario>
bool sound(const char* name, unsigned preemptions) {
  rl::test_params parameters;
  // Not into strings: Relacy replaces the allocator of the whole program while it runs.
  std::ostream nowhere(nullptr);
  parameters.progress_stream = &nowhere;
  parameters.search_type = preemptions == every_schedule ? rl::sched_full : rl::sched_bound;
  parameters.context_bound = preemptions;
  const bool found_none = rl::simulate<Scenario>(parameters);
  std::cout << name << ": " << parameters.stop_iteration << " executions, "
            << (found_none ? "no fault" : rl::test_result_str(parameters.test_result)) << std::endl;
  return found_none;
}

bool all_sound(unsigned preemptions) {
  return sound<Stopping<true>>("stopping, stealing, every schedule", every_schedule) &&
         sound<Stopping<false>>("stopping, waiting, every schedule", every_schedule) &&
         sound<Closing<true>>("closing, stealing", preemptions + 2) &&
         sound<Closing<false>>("closing, waiting, every schedule", every_schedule) &&
         sound<Neighbours<true>>("neighbours, stealing", preemptions + 1) &&
         sound<Neighbours<false>>("neighbours, waiting", preemptions + 1) &&
         sound<Collections<true>>("collections, stealing", preemptions) &&
         sound<Collections<false>>("collections, waiting", preemptions);
}

}  // namespace
}  // namespace memgraft::zeroing::ahead

int main(int argc, char** argv) {
  const std::string_view expected = argc > 1 ? argv[1] : "";
  const unsigned preemptions = argc > 2 ? static_cast<unsigned>(std::stoul(argv[2])) : 2;
  if (expected != "sound" && expected != "mistaken") {
    std::cerr << "model: '" << expected << "': expected sound or mistaken\n";
    return 2;
  }
  const bool sound = memgraft::zeroing::ahead::all_sound(preemptions);
  return sound == (expected == "sound") ? 0 : 1;
}
