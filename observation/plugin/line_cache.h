// The model of a CPU's cache: which of its accesses go to memory.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { kLineBytes = 64, kWays = 8, kSetBytes = kLineBytes * kWays };

// Sets of kWays lines, the one that was used last first. Of each line its number + 1; 0 where there is none.
// One CPU at a time accesses a cache; others may forget lines of it meanwhile.
struct line_cache {
  uint64_t sets;
  uint64_t* lines;  // kWays of each set, 0 at first
};

static inline uint64_t* set_of(const struct line_cache* cache, uint64_t address) {
  return &cache->lines[address / kLineBytes % cache->sets * kWays];
}

// Whether the line of that address was there. From now on it is, in the place of one that was forgotten, or
// else of the one that was used longest ago.
static inline bool access_cache(const struct line_cache* cache, uint64_t address) {
  uint64_t* const set = set_of(cache, address);
  const uint64_t wanted = address / kLineBytes + 1;
  unsigned leaves = kWays - 1;
  bool there = false;
  for (unsigned way = 0; way < kWays && !there; ++way) {
    const uint64_t here = __atomic_load_n(&set[way], __ATOMIC_RELAXED);
    there = here == wanted;
    leaves = there || (here == 0 && way < leaves) ? way : leaves;
  }
  for (unsigned way = leaves; way > 0; --way) {
    __atomic_store_n(&set[way], __atomic_load_n(&set[way - 1], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  }
  __atomic_store_n(&set[0], wanted, __ATOMIC_RELAXED);
  return there;
}

// Another CPU has written the line. Where this cache's CPU accesses the same set just then, another line may
// leave instead of this one.
static inline void forget_line(const struct line_cache* cache, uint64_t address) {
  uint64_t* const set = set_of(cache, address);
  for (unsigned way = 0; way < kWays; ++way) {
    if (__atomic_load_n(&set[way], __ATOMIC_RELAXED) == address / kLineBytes + 1) {
      __atomic_store_n(&set[way], 0, __ATOMIC_RELAXED);
    }
  }
}
