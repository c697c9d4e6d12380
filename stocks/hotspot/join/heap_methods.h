// Methods of HotSpot's heap, the same for every collector: their types, and how needs name them.
#pragma once

#include <cstddef>
#include <string_view>

#include "join/needs.h"

namespace memgraft::hotspot {

// HeapWord* CollectedHeap::allocate_new_tlab(size_t min_words, size_t requested_words, size_t* actual_words)
using AllocateNewTlab = void* (*)(void* heap, std::size_t min_words, std::size_t requested_words,
                                  std::size_t* actual_words);
inline constexpr SlotNeed kAllocateNewTlab{.method = "allocate_new_tlab", .arguments = "mmPm"};

// HeapWord* CollectedHeap::mem_allocate(size_t words, bool* gc_overhead_limit_was_exceeded)
using MemAllocate = void* (*)(void* heap, std::size_t words, bool* limit_exceeded);
inline constexpr SlotNeed kMemAllocate{.method = "mem_allocate", .arguments = "mPb"};

// void CollectedHeap::ensure_parsability(bool retire_tlabs): before every collection and every walk of the
// heap
using EnsureParsability = void (*)(void* heap, bool retire_tlabs);
inline constexpr SlotNeed kEnsureParsability{.method = "ensure_parsability", .arguments = "b"};

// void CollectedHeap::fill_with_dummy_object(HeapWord* start, HeapWord* end, bool zap): by a TLAB that is
// retired
using FillWithDummyObject = void (*)(void* heap, std::byte* start, std::byte* end, bool zap);
inline constexpr SlotNeed kFillWithDummyObject{.method = "fill_with_dummy_object",
                                               .arguments = "PP12HeapWordImplS2_b"};

// static void CollectedHeap::fill_with_objects(HeapWord* start, size_t words, bool zap)
using FillWithObjects = void (*)(void* start, std::size_t words, bool zap);
inline constexpr std::string_view kFillWithObjects =
    "_ZN13CollectedHeap17fill_with_objectsEPP12HeapWordImplmb";

}  // namespace memgraft::hotspot
