// NUMA-Eden for stock HotSpot: what buffers are filled with lies on the node whose CPUs they are for (M. M.
// Tikir, "Using Hardware Monitors to Automatically Improve Memory Performance", PhD thesis, University of
// Maryland, 2005, section 6.1.1). The thesis divides eden into a segment per node; here each filling is
// bound, wherever in eden the heap puts it.
//
// Eden is used again after each collection, in another order: a filling may lie on another node from the time
// before, and pages that come anew cost a fault each. So it is put aside as a spare of that node, and the
// heap is asked for another one (allocation/spare.h: no lock).
//
// The heap must be walkable at any safepoint. None comes while a thread is in the VM, as it is here, but
// within the heap's own allocation (stocks/hotspot/buffers/install.cpp): so nothing is held while the heap is
// asked; what was got before is a filling, or a spare, which close() finds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "memgraft/allocation/buffer.h"
#include "memgraft/allocation/hierarchy.h"
#include "memgraft/allocation/spare.h"
#include "memgraft/linux/numa_memory.h"
#include "memgraft/units.h"

namespace memgraft::hotspot {

struct NumaCounts {
  std::size_t nodes = 1;              // 1: nothing to bind
  std::uint64_t fillings = 0;         // asked for
  std::uint64_t local_fillings = 0;   // of these, that lay on their node already, so that nothing was done
  std::uint64_t moved_fillings = 0;   // whose pages on other nodes were given back, to come anew
  std::uint64_t spares_used = 0;      // put aside for their node before
  std::uint64_t remote_fillings = 0;  // that were left on another node, because the heap had no more
  Bytes bound{0};
  Words words_lost_at_closes = 0_words;  // in spares
  std::uint64_t failures = 0;            // system calls
  std::string reason;                    // of the last of them
};

// The levels that memory is bound for: as asked, and above them, where those are small, a level of nodes; on
// one node none of nodes. Throws a Refusal where a buffer would be for CPUs of several nodes.
std::vector<allocation::Level> levels_by_node(std::vector<allocation::Level> levels,
                                              const allocation::Topology& topology, bool g1);

class NumaEden {
 public:
  using Ask = std::byte* (*)(void* heap, Words words);
  using Discard = void (*)(allocation::Rest rest);

  // `numbers` are the kernel's, by the index of a node. The rest is the heap's, as in allocation::Heap.
  NumaEden(const std::vector<std::uint32_t>& numbers, linux_os::NumaMemory& memory, Ask ask, Discard discard)
      : numbers_(numbers), memory_(memory), ask_(ask), discard_(discard), spares_(numbers.size()) {}

  // As allocation::Heap::allocate.
  std::byte* allocate(void* heap, Words words, std::size_t node);
  // With every thread stopped, but for those within `ask`: discards the spares.
  void close();
  [[nodiscard]] NumaCounts counts() const;

 private:
  struct Atomics {
    using Word = std::atomic<allocation::State>;
    using Pointer = std::atomic<std::byte*>;
    using Size = std::atomic<std::uint64_t>;
  };
  struct alignas(64) OwnLine {
    allocation::Spare<Atomics> spare;
  };
  // Simulated, with two nodes asking in random order for an eden of 64 fillings: with one spare for each a
  // quarter of the fillings is moved, with four a twelfth.
  using Spares = std::array<OwnLine, 4>;

  // Where a filling lies.
  struct Seen {
    std::size_t asked = 0;   // pages
    std::size_t local = 0;   // on the node
    std::size_t remote = 0;  // on others
    std::size_t home = 0;    // that which has more than half of them; none: the number of nodes
  };

  Seen look(const std::byte* start, Words words, std::size_t node);
  void bind(std::byte* start, Words words, std::size_t node, const Seen& seen);
  bool put_aside(std::byte* start, Words words, std::size_t node);
  std::byte* take_spare(Words words, std::size_t node);
  void failed(const char* call, int error);

  std::vector<std::uint32_t> numbers_;
  linux_os::NumaMemory& memory_;
  Ask ask_;
  Discard discard_;
  std::vector<Spares> spares_;
  // What the heap gave since the last close() and before it, and what of that are spares.
  std::atomic<std::uint64_t> words_now_{0}, words_before_{0}, spare_words_{0};
  // Fillings are rare: no need for a count per thread.
  std::atomic<std::uint64_t> fillings_{0}, local_{0}, moved_{0}, spares_used_{0}, remote_{0}, bound_words_{0},
      words_lost_{0}, failures_{0};
  std::atomic<const char*> failed_call_{""};
  std::atomic<int> failed_error_{0};
};

// Null on one node, where there is nothing to bind. Never destroyed, as the hierarchy.
NumaEden* make_numa_eden(const allocation::Topology& topology, NumaEden::Ask ask, NumaEden::Discard discard);

}  // namespace memgraft::hotspot
