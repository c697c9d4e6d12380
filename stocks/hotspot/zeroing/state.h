// What the zeroing graft keeps while the JVM lives, shared by its replacements (hooks.cpp) and by what sets
// it up and reads its counts (install.cpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "clocks/clocks.h"
#include "join/heap_methods.h"
#include "join/nursery.h"
#include "memgraft/zeroing.h"
#include "memgraft/zeroing_ahead.h"
#include "zeroing/epochs.h"
#include "zeroing/strategy.h"
#include "zeroing/windows.h"

namespace memgraft::hotspot {

using Memset = void* (*)(void* destination, int value, std::size_t bytes);

// One cache line (64 bytes on x86-64; two because of the adjacent-line prefetcher, Intel Optimization
// Reference Manual, section 2.5.5.4), so that threads counting refills do not share one with what every
// thread reads.
constexpr std::size_t kDestructiveBytes = 128;

struct Zeroing {
  // Written once, before the first Java thread exists.
  AllocateNewTlab allocate_new_tlab = nullptr;
  MemAllocate mem_allocate = nullptr;
  EnsureParsability ensure_parsability = nullptr;
  FillWithDummyObject fill_with_dummy_object = nullptr;
  Memset memset = nullptr;
  const memgraft_zero_kernel* ordinary = nullptr;
  const memgraft_zero_kernel* non_temporal = nullptr;
  const memgraft_zero_kernel* window = nullptr;
  std::size_t window_bytes = 0;
  std::string_view kernel;                 // as the summary names it
  Nursery nursery;                         // meant only where a strategy needs it
  zeroing::ZeroingAhead* ahead = nullptr;  // never destroyed: threads may allocate until the process ends
  Epochs* epochs = nullptr;                // the same
  std::string* helper_reason = nullptr;    // the same; null until it was tried to start the helper
  bool helper_started = false;
  bool hands_out_windows = false;

  // Written with the world stopped only, so that reads need no order: a safepoint is one.
  std::atomic<ZeroingStrategy> now{ZeroingStrategy::bulk};
  // No collection has happened yet, so that all that is free has never been touched and is zero (mmap(2)).
  std::atomic<bool> fresh_heap{false};
  std::span<std::byte> zeroed_in_pause;

  Windows windows;
  alignas(kDestructiveBytes) std::atomic<std::uint64_t> tlabs{0};
  std::atomic<std::uint64_t> missed_tlabs{0};
  std::atomic<std::uint64_t> thread_bytes{0};
  std::atomic<std::uint64_t> fresh_bytes{0};
  std::atomic<std::uint64_t> pause_bytes{0};
  std::atomic<std::uint64_t> allocated_bytes{0};
  WorkTimer thread_timer;
  WorkTimer pause_timer;
  CycleRate cycle_rate;
};

// Java threads may still refill while the process runs its exit handlers, so nothing here may be torn down.
static_assert(std::is_trivially_destructible_v<Zeroing>);

// Set before the joints lead to the replacements.
extern Zeroing* the_graft;

inline void count(std::atomic<std::uint64_t>& counter, std::uint64_t value) {
  // Relaxed: counters are read at the end and order nothing.
  counter.fetch_add(value, std::memory_order_relaxed);
}

inline std::uint64_t value_of(const std::atomic<std::uint64_t>& counter) {
  return counter.load(std::memory_order_relaxed);  // relaxed: see count()
}

inline ZeroingStrategy strategy_now(const Zeroing& graft) {
  return graft.now.load(std::memory_order_relaxed);  // relaxed: changes only with the world stopped
}

// The replacements, with the types above.
void* grafted_allocate_new_tlab(void* heap, std::size_t min_words, std::size_t requested_words,
                                std::size_t* actual_words);
void* grafted_mem_allocate(void* heap, std::size_t words, bool* limit_exceeded);
void grafted_ensure_parsability(void* heap, bool retire_tlabs);
void grafted_fill_with_dummy_object(void* heap, std::byte* start, std::byte* end, bool zap);
void* grafted_memset(void* destination, int value, std::size_t bytes);

// The heap is about to be walked or collected, the world stopped: nobody may write to what is free any more.
void leave_free_memory_alone(Zeroing& graft);

}  // namespace memgraft::hotspot
