// Buffers of any number of levels between a heap and its threads' buffers: each is refilled from the next
// higher level, the highest from the heap (Kirsch, Payer, Röck 2012, section II and listing 1, for three
// levels).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "memgraft/allocation/buffer.h"
#include "memgraft/allocation/own_cpu.h"
#include "memgraft/allocation/per_thread.h"
#include "memgraft/allocation/topology.h"
#include "memgraft/units.h"

namespace memgraft::allocation {

struct Level {
  Kind kind = Kind::cpu;
  Words words = 0_words;  // of each of its buffers

  friend bool operator==(const Level&, const Level&) = default;
};

// The heap that the buffers stand before.
struct Heap {
  // So many words of fresh memory, or null. It may stop all threads, and close() the hierarchy, before it
  // returns. `context` is what take() was called with, `node` is where the buffer is that it is for
  // (Topology::index_of).
  std::byte* (*allocate)(void* context, Words words, std::size_t node) = nullptr;
  // Memory that nobody will be handed: makes it such that the heap can be walked.
  void (*discard)(Rest rest) = nullptr;
  // If not null: a buffer of the lowest level's next filling, before anybody can take of it.
  void (*prepare)(Rest filling) = nullptr;
  // The memory of a node's buffers is that node's: so take from another's only when there is no more.
  bool by_node = false;
};

// What happened on one level, since the start.
struct LevelCounts {
  std::uint64_t taken = 0;      // times that memory was taken from its buffers, by threads or lower levels
  std::uint64_t refills = 0;    // of these, times that the taker refilled the buffer first
  std::uint64_t foreign = 0;    // of these, from the buffer of another CPU than the one at completion
  std::uint64_t contended = 0;  // attempts lost to another thread: a swap that failed, a refill in progress
  std::uint64_t moved = 0;      // attempts begun anew because the thread had been moved to another CPU
  Words words = 0_words;        // taken
  Words words_lost_at_refills = 0_words;  // discarded because they were too few
  Words words_lost_at_closes = 0_words;   // discarded by close()
};

class Hierarchy {
 public:
  static constexpr std::size_t kMostLevels = 4;

  struct Taken {
    std::byte* start = nullptr;  // null: no buffer had as much, and none could be refilled; ask the heap
    Words words = 0_words;
    std::size_t level = 0;  // from which
    bool refilled = false;  // the buffer, first
  };

  // `levels`, at most kMostLevels, lowest first, each size at least that of the one below and at most
  // kMostWords. Where `restartable`, buffers of kinds that have one CPU each are taken from without atomic
  // instructions: can_replace_on_cpu().
  Hierarchy(const std::vector<Level>& levels, Topology topology, Heap heap, bool restartable);
  // No thread that took from it may end afterwards without having taken from another one.
  ~Hierarchy();
  Hierarchy(const Hierarchy&) = delete;
  Hierarchy& operator=(const Hierarchy&) = delete;
  Hierarchy(Hierarchy&&) = delete;
  Hierarchy& operator=(Hierarchy&&) = delete;

  // `wanted` words or somewhat fewer, at least `least`, zeroed by nobody.
  Taken take(Words least, Words wanted, void* context);

  // With every thread stopped, but for those within Heap::allocate: empties all buffers.
  void close();
  // The same condition: how large fillings are from now on.
  void resize(std::size_t level, Words words);

  [[nodiscard]] std::size_t levels() const { return kinds_.size(); }
  [[nodiscard]] Level level(std::size_t level) const {
    return {.kind = kinds_.at(level), .words = stages_.at(level).words.load(std::memory_order_relaxed)};
  }
  [[nodiscard]] std::size_t buffers(std::size_t level) const { return topology_.count(kinds_.at(level)); }
  // Whether a level's buffers are taken from in restartable sequences.
  [[nodiscard]] bool restartable(std::size_t level) const { return stages_.at(level).restartable; }
  [[nodiscard]] LevelCounts counts(std::size_t level) const;

 private:
  struct Machine;
  struct OwnLine;
  struct Stage {
    std::unique_ptr<OwnLine[]> buffers;  // NOLINT(modernize-avoid-c-arrays): of a size known at run time only
    bool restartable = false;
    std::vector<std::size_t> nodes;  // on which each buffer is
    // Both written with the world stopped only, so that reads need no order.
    std::atomic<Words> words{0_words};
    std::atomic<std::uint64_t> words_lost_at_closes{0};
  };
  struct ThreadCounts {
    struct OfLevel {
      Count taken, refills, foreign, contended, moved, words, words_lost;
    };
    std::array<OfLevel, kMostLevels> levels;
  };

  Taken take_from(std::size_t level, Words least, Words wanted, void* context);
  Taken search(std::size_t level, Words least, Words wanted, void* context);
  // Where the first `wanted` words of a new filling are; null if another thread refills this buffer, or the
  // heap has none. In search() it would push what each request needs out of the registers.
  struct Refilled {
    std::byte* start = nullptr;
    bool heap_has_more = true;
  };
  [[gnu::noinline]] Refilled refill(std::size_t level, std::size_t at, const Machine& machine, State seen,
                                    Words wanted, void* context, ThreadCounts::OfLevel& counts);
  // The next filling of a buffer that is on `node`; its start is null where there is none.
  Rest fetch(std::size_t level, std::size_t node, void* context);

  std::vector<Kind> kinds_;
  Topology topology_;
  Heap heap_;
  std::array<Stage, kMostLevels> stages_;
  PerThread<ThreadCounts> counts_;
};

}  // namespace memgraft::allocation
