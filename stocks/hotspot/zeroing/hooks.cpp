#include <algorithm>

#include "memgraft/units.h"
#include "zeroing/beneath.h"
#include "zeroing/state.h"

// With -XX:+ZeroTLAB HotSpot's refill path clears each fresh TLAB (gc/shared/memAllocator.cpp, JDK 17 to 25):
//
//     mem = heap->allocate_new_tlab(min_words, requested_words, &actual_words);    // virtual
//     if (ZeroTLAB) Copy::zero_to_words(mem, actual_words);                        // compiled into memset
//
// and compiled and interpreted code then leaves out its own zeroing of objects. So both calls are replaced:
// the first remembers, per thread, what was handed out, and the second recognises exactly that memory. Every
// other memset of libjvm goes on to the original one. What else is replaced, and for which strategies, is in
// needs.cpp.

namespace memgraft::hotspot {

constinit Zeroing* the_graft = nullptr;

namespace {

// The TLAB this thread was handed and has not yet zeroed.
struct FreshTlab {
  std::byte* start = nullptr;
  std::size_t bytes = 0;
  std::size_t clean_bytes = 0;  // the first ones of it that are zero already
};
// initial-exec: found by one load, without the allocation that other models may do at a thread's first
// access, which would not be safe here (libjvm calls memset within signal handlers too). The 25 bytes of both
// come out of the reserve that glibc keeps for libraries loaded late (rtld.optional_static_tls, glibc
// manual).
[[gnu::tls_model("initial-exec")]] constinit thread_local FreshTlab fresh_tlab;

// What is handed out next is zero already.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool handed_out_clean = false;

void zero_now(Zeroing& graft, const memgraft_zero_kernel* kernel, std::byte* at, std::size_t bytes) {
  graft.thread_timer.time(Bytes(bytes), [&] { kernel->zero(at, bytes); });
  count(graft.thread_bytes, bytes);
}

// Makes memory that this thread was handed zero, in the way that is in force.
void clear(Zeroing& graft, std::byte* at, std::size_t bytes) {
  if (graft.fresh_heap.load(std::memory_order_relaxed)) {  // relaxed: changes only with the world stopped
    count(graft.fresh_bytes, bytes);
    return;
  }
  switch (strategy_now(graft)) {
    case ZeroingStrategy::non_temporal:
      zero_now(graft, graft.non_temporal, at, bytes);
      return;
    case ZeroingStrategy::mixed: {
      const std::size_t soon = std::min(bytes, graft.window_bytes);
      zero_now(graft, graft.window, at, soon);
      zero_now(graft, graft.non_temporal, at + soon, bytes - soon);
      return;
    }
    case ZeroingStrategy::concurrent: {
      zeroing::ZeroingAhead::Taken taken;
      graft.thread_timer.time(Bytes(bytes), [&] { taken = graft.ahead->take(at, bytes); });
      count(graft.thread_bytes, taken.zeroed.count());
      return;
    }
    case ZeroingStrategy::pause:
      if (at >= graft.zeroed_in_pause.data() &&
          at + bytes <= graft.zeroed_in_pause.data() + graft.zeroed_in_pause.size()) {
        return;
      }
      zero_now(graft, graft.non_temporal, at, bytes);
      return;
    case ZeroingStrategy::windows:
      zero_now(graft, graft.window, at, bytes);
      return;
    default:
      zero_now(graft, graft.ordinary, at, bytes);
  }
}

void* hand_out(const Windows::Window& window, std::size_t* actual_words) {
  fresh_tlab = {.start = window.start, .bytes = window.bytes, .clean_bytes = window.clean_bytes};
  *actual_words = window.bytes / kBytesPerWord;
  return window.start;
}

}  // namespace

void* grafted_allocate_new_tlab(void* heap, std::size_t min_words, std::size_t requested_words,
                                std::size_t* actual_words) {
  Zeroing& graft = *the_graft;
  if (fresh_tlab.start != nullptr) {
    count(graft.missed_tlabs, 1);
    fresh_tlab = {};
  }
  const std::size_t least_bytes = to_bytes(Words(min_words)).count();
  if (graft.hands_out_windows && strategy_now(graft) == ZeroingStrategy::windows) {
    Windows::Window window;
    switch (graft.windows.take(least_bytes, window)) {
      case Windows::Answer::window:
        return hand_out(window, actual_words);
      case Windows::Answer::outside:
        return nullptr;
      case Windows::Answer::needs_chunk:
        break;
    }
  }
  // This call may collect (JDK 25 does so inside), hand out other TLABs on other threads, change the
  // strategy, and throw away what it found: only its result counts.
  handed_out_clean = false;
  void* const tlab = graft.allocate_new_tlab(heap, min_words, requested_words, actual_words);
  if (tlab == nullptr) {
    return nullptr;
  }
  auto* const start = static_cast<std::byte*>(tlab);
  const std::size_t bytes = to_bytes(Words(*actual_words)).count();
  count(graft.allocated_bytes, bytes);
  if (graft.hands_out_windows && strategy_now(graft) == ZeroingStrategy::windows) {
    return hand_out(graft.windows.open(start, bytes, least_bytes), actual_words);
  }
  fresh_tlab = {.start = start, .bytes = bytes, .clean_bytes = handed_out_clean ? bytes : 0};
  return tlab;
}

void zeroing_clears(std::byte* start, std::size_t bytes) { clear(*the_graft, start, bytes); }
void zeroing_was_done() { handed_out_clean = true; }

void* grafted_mem_allocate(void* heap, std::size_t words, bool* limit_exceeded) {
  Zeroing& graft = *the_graft;
  void* const memory = graft.mem_allocate(heap, words, limit_exceeded);
  if (memory != nullptr) {
    const std::size_t bytes = to_bytes(Words(words)).count();
    count(graft.allocated_bytes, bytes);
    if (strategy_now(graft) == ZeroingStrategy::concurrent) {
      // An object outside TLABs, which HotSpot clears itself: the helper must be out of it before.
      graft.ahead->exclude(static_cast<std::byte*>(memory), bytes);
    }
  }
  return memory;
}

void grafted_fill_with_dummy_object(void* heap, std::byte* start, std::byte* end, bool zap) {
  if (!Windows::take_back(start, end)) {
    the_graft->fill_with_dummy_object(heap, start, end, zap);
  }
}

void leave_free_memory_alone(Zeroing& graft) {
  if (graft.ahead != nullptr) {
    graft.ahead->close();
  }
  graft.zeroed_in_pause = {};
  // Relaxed: the world is stopped.
  graft.fresh_heap.store(false, std::memory_order_relaxed);
}

void grafted_ensure_parsability(void* heap, bool retire_tlabs) {
  Zeroing& graft = *the_graft;
  // Not every collection is announced (the one of a live heap dump is not), but this is called for all.
  leave_free_memory_alone(graft);
  graft.ensure_parsability(heap, retire_tlabs);
  if (graft.hands_out_windows) {
    graft.windows.close_all();
  }
}

void* grafted_memset(void* destination, int value, std::size_t bytes) {
  Zeroing& graft = *the_graft;
  if (destination != fresh_tlab.start || bytes != fresh_tlab.bytes || value != 0 || destination == nullptr) {
    return graft.memset(destination, value, bytes);
  }
  const FreshTlab tlab = fresh_tlab;
  fresh_tlab = {};
  if (tlab.clean_bytes < tlab.bytes) {
    clear(graft, tlab.start + tlab.clean_bytes, tlab.bytes - tlab.clean_bytes);
  }
  count(graft.tlabs, 1);
  return destination;
}

}  // namespace memgraft::hotspot
