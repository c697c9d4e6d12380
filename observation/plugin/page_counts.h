// Counts by page: a table that grows, of one thread.
#pragma once

#include <stdint.h>
#include <stdlib.h>

struct page_count {
  uint64_t page;  // the address of its first byte + 1; 0: no page
  uint64_t loads;
  uint64_t stores;
};

struct page_counts {
  struct page_count* slots;
  size_t slot_count;  // a power of two
  size_t used;
  struct page_count* last;  // most accesses are to the same page as the one before
};

// Fibonacci hashing: the upper bits of a product with 2^64 / phi (Knuth, volume 3, 6.4).
static inline size_t page_slot(const struct page_counts* counts, uint64_t page) {
  size_t slot = (size_t)((page * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (counts->slot_count - 1);
  while (counts->slots[slot].page != 0 && counts->slots[slot].page != page) {
    slot = (slot + 1) & (counts->slot_count - 1);
  }
  return slot;
}

static inline void grow_pages(struct page_counts* counts) {
  struct page_counts larger = {.slot_count = counts->slot_count == 0 ? 1024 : 2 * counts->slot_count,
                               .used = counts->used};
  larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
  if (larger.slots == NULL) {
    abort();
  }
  for (size_t i = 0; i < counts->slot_count; ++i) {
    if (counts->slots[i].page != 0) {
      larger.slots[page_slot(&larger, counts->slots[i].page)] = counts->slots[i];
    }
  }
  free(counts->slots);
  *counts = larger;
}

static inline struct page_count* count_of(struct page_counts* counts, uint64_t address) {
  const uint64_t page = (address & ~UINT64_C(4095)) + 1;
  if (counts->last != NULL && counts->last->page == page) {
    return counts->last;
  }
  if (2 * counts->used >= counts->slot_count) {
    grow_pages(counts);
  }
  counts->last = &counts->slots[page_slot(counts, page)];
  if (counts->last->page == 0) {
    counts->last->page = page;
    ++counts->used;
  }
  return counts->last;
}
