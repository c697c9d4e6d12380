// What the sampling thread knows in one round, and where it looks for pages to guard.
#pragma once

#include <cstddef>
#include <cstdint>

#include "page_set.h"
#include "sampler.h"

namespace memgraft::observation {

inline constexpr std::size_t kSplitSlots = 16384;

// Only the sampling thread uses it. All signals are blocked there, so that it takes the lock as handlers do.
struct Round {
  char buffer[65536]{};
  std::uintptr_t snapshot[kMostGuarded]{};  // what was guarded before the mappings were read, in order
  bool confirmed[kMostGuarded]{};           // it still is inaccessible
  std::size_t snapshot_count{};
  Range found[kMostCandidates];
  std::size_t found_count{};
  std::uint64_t found_pages{};
  std::uint64_t left_out_bytes{};  // large enough, but maybe stacks
  std::uint64_t small_bytes{};     // malloc's, in small pieces, or in more pieces than there are places for
  std::uint32_t number{};
  std::uint64_t position{};  // of the walk over all pages
  std::uint64_t walked_pages{};
  std::uint64_t random{};
  std::uint64_t mappings{};
  bool jvm{};
  std::uintptr_t huge_bytes{};   // of a transparent huge page; 0: there are none
  PageSet<kSplitSlots> split{};  // blocks of so many bytes, with the round in which they were
  std::uint64_t joined{};        // huge pages that Linux had made of small ones when these were split
};
extern Round g_round;

// Remembers which pages are guarded, before the mappings are read.
void take_snapshot();
// Finds the memory that may be sampled, and which of the guarded pages still are as they were left.
void read_mappings(const Shared& shared);

// Before the first round.
void find_huge_pages();
// Takes none for split any more where Linux has made huge pages since.
void see_joined();
// Does what the asking process wants: see Shared::apart.
void keep_apart(Shared& shared);
// Before the page is guarded.
void split_huge_page(std::uintptr_t page);

}  // namespace memgraft::observation
