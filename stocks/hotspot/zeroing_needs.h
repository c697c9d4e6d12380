// What the zeroing graft needs of HotSpot, and the names by which its joints are asked for.
#pragma once

#include <string_view>

#include "needs.h"

namespace memgraft::hotspot {

// What every strategy needs; what handing out windows needs besides; what zeroing a nursery ahead of its use
// needs besides.
extern const Needs kZeroingNeeds;
extern const Needs kWindowNeeds;
extern const Needs kAheadNeeds;

// HeapWord* CollectedHeap::allocate_new_tlab(size_t min_words, size_t requested_words, size_t* actual_words)
inline constexpr SlotNeed kAllocateNewTlab{.method = "allocate_new_tlab", .arguments = "mmPm"};
// HeapWord* CollectedHeap::mem_allocate(size_t words, bool* gc_overhead_limit_was_exceeded)
inline constexpr SlotNeed kMemAllocate{.method = "mem_allocate", .arguments = "mPb"};
// void CollectedHeap::ensure_parsability(bool retire_tlabs): before every collection and every walk of the
// heap
inline constexpr SlotNeed kEnsureParsability{.method = "ensure_parsability", .arguments = "b"};
// void CollectedHeap::fill_with_dummy_object(HeapWord* start, HeapWord* end, bool zap): by a TLAB that is
// retired
inline constexpr SlotNeed kFillWithDummyObject{.method = "fill_with_dummy_object",
                                               .arguments = "PP12HeapWordImplS2_b"};
// static void CollectedHeap::fill_with_objects(HeapWord* start, size_t words, bool zap)
inline constexpr std::string_view kFillWithObjects =
    "_ZN13CollectedHeap17fill_with_objectsEPP12HeapWordImplmb";
inline constexpr std::string_view kMemset = "memset";

}  // namespace memgraft::hotspot
