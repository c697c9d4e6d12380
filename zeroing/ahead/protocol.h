// The protocol of concurrent zeroing: who may change which word when. One template, so that the model checker
// in tests/ runs the very code that ships; `Policy` is what differs:
//
//   Word               std::atomic<std::uint64_t>, or the checker's
//   zero_piece(...)    writes one piece of a block unless the helper has lost the block
//   drain()            orders the helper's stores like ordinary ones
//   expel()            after it, no piece that was begun before it writes any more; false where that cannot
//                      be had, and then the helper is waited for
//   wait(turn)         lets the helper run; `turn` counts from 0
//
// The `work` word says what the helper may do; each block's word says whose the block is. Both carry the
// number of their generation (one open() to the next), so a helper that slept through any number of
// collections finds that every word it knew has changed: nothing returns to an earlier value.
//
// No two words must be compared with each other anywhere: the helper and close() meet in `work`, the helper
// and take() in the block's word, by compare-and-exchange. So no memory order stronger than acquire and
// release is needed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace memgraft::zeroing::ahead {

// A generation's number and what is the case in it.
using Value = std::uint64_t;
using Generation = std::uint64_t;

enum class Phase : std::uint8_t {
  closed,   // the helper may not begin a block
  open,     // it may
  working,  // it has begun one
  closing   // it has begun one, and must let go of it
};

enum class Block : std::uint8_t {
  zeroing,  // the helper's
  revoked,  // nobody's: taken from the helper, which may not know yet
  taken,    // whoever is handed a part of it zeroes that part
  zeroed    // all zero when it was finished, and never again the helper's
};
// A block whose word is of an earlier generation is dirty.

constexpr unsigned kGenerationShift = 2;
constexpr Value value_of(Generation generation, Phase phase) {
  return generation << kGenerationShift | static_cast<Value>(phase);
}
constexpr Value value_of(Generation generation, Block block) {
  return generation << kGenerationShift | static_cast<Value>(block);
}
constexpr Generation generation_of(Value value) { return value >> kGenerationShift; }
constexpr Phase phase_of(Value value) { return static_cast<Phase>(value & 3U); }
constexpr Block block_of(Value value) { return static_cast<Block>(value & 3U); }
// Of an earlier generation. One of a later generation is somebody's: only a helper that slept since sees
// that.
constexpr bool is_dirty(Value block, Generation generation) { return generation_of(block) < generation; }

// How a block that the helper tried ended.
enum class Helped : std::uint8_t {
  zeroed,
  overtaken,  // somebody else had it already, or took it meanwhile
  closed      // the generation is over
};

// What take() finds in a block.
enum class Found : std::uint8_t {
  ready,
  taken,    // to be zeroed by whoever takes it; the helper will not touch it
  revoked,  // the same after settle()
  stolen    // revoked by this very call
};

// How close() found the helper.
enum class Closed : std::uint8_t { idle, expelled, waited };

template <class Policy>
class Protocol {
 public:
  using Word = typename Policy::Word;

  Protocol(Policy& policy, Word& work) : policy_(policy), work_(work) {}

  // --- with the allocating threads stopped ---

  void open(Generation generation) {
    // release: the region's place and its old contents, before the helper reads the one and writes the other
    work_.store(value_of(generation, Phase::open), std::memory_order_release);
  }

  // When it returns the helper writes no more. Returns how it found the helper.
  Closed close(Generation generation) {
    const Value closing = value_of(generation, Phase::closing);
    const Value closed = value_of(generation, Phase::closed);
    Value seen = value_of(generation, Phase::open);
    // acquire: the helper's stores to the blocks it finished, before those of the collector; relaxed: retried
    while (!work_.compare_exchange_strong(seen, phase_of(seen) == Phase::working ? closing : closed,
                                          std::memory_order_acquire, std::memory_order_relaxed)) {
    }
    if (phase_of(seen) != Phase::working) {
      return Closed::idle;
    }
    if (policy_.expel()) {
      seen = closing;
      // acquire, both: where the helper let go by itself meanwhile, its stores
      work_.compare_exchange_strong(seen, closed, std::memory_order_acquire, std::memory_order_acquire);
      return Closed::expelled;
    }
    // acquire: the helper's last stores
    for (unsigned turn = 0; work_.load(std::memory_order_acquire) != closed; ++turn) {
      policy_.wait(turn);
    }
    return Closed::waited;
  }

  // --- allocating threads ---

  // Whose a block is that this thread was handed a part of; if it was nobody's or the helper's, not the
  // helper's afterwards.
  Found take(Word& block, Generation generation) {
    Value seen = block.load(std::memory_order_acquire);  // acquire: the helper's zeroes, or its last stores
    while (true) {
      const bool dirty = is_dirty(seen, generation);
      if (!dirty && block_of(seen) == Block::zeroed) {
        return Found::ready;
      }
      if (!dirty && block_of(seen) == Block::taken) {
        return Found::taken;
      }
      if (!dirty && block_of(seen) == Block::revoked) {
        return Found::revoked;
      }
      // acquire: for the value that a failed exchange reads, as above. A successful one needs no order:
      // nobody has written to a dirty block, and who lets go of a revoked one is waited for or expelled, a
      // full barrier.
      if (block.compare_exchange_strong(seen, value_of(generation, dirty ? Block::taken : Block::revoked),
                                        std::memory_order_acquire, std::memory_order_acquire)) {
        return dirty ? Found::taken : Found::stolen;
      }
    }
  }

  // Afterwards the helper writes to none of `blocks`, of which some were found revoked. Returns whether the
  // helper had to be waited for.
  bool settle(std::span<Word> blocks, Generation generation) {
    const bool expelled = policy_.expel();
    for (Word& block : blocks) {
      Value expected = value_of(generation, Block::revoked);
      if (expelled) {
        // release: others who find it taken come after expel(); acquire: the helper may have let go by itself
        block.compare_exchange_strong(expected, value_of(generation, Block::taken), std::memory_order_acq_rel,
                                      std::memory_order_acquire);
      } else {
        // acquire: the helper's last stores
        for (unsigned turn = 0; block.load(std::memory_order_acquire) == expected; ++turn) {
          policy_.wait(turn);
        }
      }
    }
    return !expelled;
  }

  // --- the helper ---

  // Zeroes one block of `pieces` pieces unless it is somebody's.
  Helped help(Word& block, Generation generation, std::size_t index, std::size_t pieces) {
    Value expected = value_of(generation, Phase::open);
    // acquire: pairs with open(); release: where the region lies was read before, and after close() it
    // changes
    if (!work_.compare_exchange_strong(expected, value_of(generation, Phase::working),
                                       std::memory_order_acq_rel, std::memory_order_relaxed)) {
      return Helped::closed;
    }
    const Helped helped = zero(block, generation, index, pieces);
    expected = value_of(generation, Phase::working);
    // release: this block's stores, before those of who closes
    if (work_.compare_exchange_strong(expected, value_of(generation, Phase::open), std::memory_order_release,
                                      std::memory_order_relaxed)) {
      return helped;
    }
    expected = value_of(generation, Phase::closing);
    // release: as above. Fails where close() did not wait.
    work_.compare_exchange_strong(expected, value_of(generation, Phase::closed), std::memory_order_release,
                                  std::memory_order_relaxed);
    return Helped::closed;
  }

 private:
  Helped zero(Word& block, Generation generation, std::size_t index, std::size_t pieces) {
    Value seen = block.load(std::memory_order_relaxed);  // relaxed: confirmed by the exchange
    const Value mine = value_of(generation, Block::zeroing);
    // relaxed: the block's old contents were acquired from open(); a block that somebody has is not touched
    if (!is_dirty(seen, generation) ||
        !block.compare_exchange_strong(seen, mine, std::memory_order_relaxed, std::memory_order_relaxed)) {
      return Helped::overtaken;
    }
    bool whole = true;
    for (std::size_t piece = 0; piece < pieces && whole; ++piece) {
      whole = policy_.zero_piece(work_, value_of(generation, Phase::working), block, mine, index, piece);
    }
    policy_.drain();
    seen = mine;
    if (whole) {
      // release: the zeroes, before whoever finds the block ready
      if (block.compare_exchange_strong(seen, value_of(generation, Block::zeroed), std::memory_order_release,
                                        std::memory_order_relaxed)) {
        return Helped::zeroed;
      }
    }
    seen = value_of(generation, Block::revoked);
    // release: the last stores, before whoever waits for it writes there
    block.compare_exchange_strong(seen, value_of(generation, Block::taken), std::memory_order_release,
                                  std::memory_order_relaxed);
    return Helped::overtaken;
  }

  Policy& policy_;
  Word& work_;
};

}  // namespace memgraft::zeroing::ahead
