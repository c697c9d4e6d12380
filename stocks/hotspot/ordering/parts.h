// What the parts of the ordering graft share: c2, c1 and those of a machine.
#pragma once

#include <atomic>
#include <cstdint>

namespace memgraft::hotspot {

using Counter = std::atomic<std::uint64_t>;

// Relaxed, all: statistics.
inline void count(Counter& counter) { counter.fetch_add(1, std::memory_order_relaxed); }
inline std::uint64_t value(const Counter& counter) { return counter.load(std::memory_order_relaxed); }

// oops/accessDecorators.hpp, JDK 17 to 25: the memory ordering is one of bits 6 to 10.
inline void make_sequentially_consistent(std::uint64_t& decorators) {
  constexpr std::uint64_t kMemoryOrderMask = 0x7c0;
  constexpr std::uint64_t kSequentiallyConsistent = std::uint64_t{1} << 10U;
  decorators = (decorators & ~kMemoryOrderMask) | kSequentiallyConsistent;
}

}  // namespace memgraft::hotspot
