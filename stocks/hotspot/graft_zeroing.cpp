#include "graft_zeroing.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <type_traits>

#include "clocks.h"
#include "memgraft/zeroing.h"
#include "memgraft/zeroing_ahead.h"
#include "refusal.h"
#include "windows.h"

// With -XX:+ZeroTLAB HotSpot's refill path clears each fresh TLAB (gc/shared/memAllocator.cpp, JDK 17 to 25):
//
//     mem = heap->allocate_new_tlab(min_words, requested_words, &actual_words);    // virtual
//     if (ZeroTLAB) Copy::zero_to_words(mem, actual_words);                        // compiled into memset
//
// and compiled and interpreted code then leaves out its own zeroing of objects. So both calls are replaced:
// the first remembers, per thread, what was handed out, and the second recognises exactly that memory. Every
// other memset of libjvm goes on to the original one. What else is replaced, and for which strategies, is in
// the tables below.

namespace memgraft::hotspot {

namespace {

constexpr std::array kFeatures{17, 21, 25};
constexpr std::array kGraftedCollectors{Collector::serial, Collector::parallel, Collector::g1};
// Their nursery's free memory is one stretch; G1's is scattered over regions.
constexpr std::array kNurseryCollectors{Collector::serial, Collector::parallel};
constexpr std::array<FlagNeed, 2> kFlags{{
    {.name = "UseTLAB", .value = true, .option = "-XX:+UseTLAB"},
    {.name = "ZeroTLAB", .value = true, .option = "-XX:+ZeroTLAB"},
}};
constexpr std::array<FlagNeed, 1> kNurseryFlags{{
    // With it ParallelGC's eden is in several pieces.
    {.name = "UseNUMA", .value = false, .option = "-XX:-UseNUMA"},
}};
// HeapWord* CollectedHeap::allocate_new_tlab(size_t min_words, size_t requested_words, size_t* actual_words)
constexpr SlotNeed kAllocateNewTlab{.method = "allocate_new_tlab", .arguments = "mmPm"};
// HeapWord* CollectedHeap::mem_allocate(size_t words, bool* gc_overhead_limit_was_exceeded)
constexpr SlotNeed kMemAllocate{.method = "mem_allocate", .arguments = "mPb"};
// void CollectedHeap::ensure_parsability(bool retire_tlabs): before every collection and every walk of the heap
constexpr SlotNeed kEnsureParsability{.method = "ensure_parsability", .arguments = "b"};
// void CollectedHeap::fill_with_dummy_object(HeapWord* start, HeapWord* end, bool zap): by a TLAB that is retired
constexpr SlotNeed kFillWithDummyObject{.method = "fill_with_dummy_object", .arguments = "PP12HeapWordImplS2_b"};
constexpr std::array kSlots{kAllocateNewTlab};
constexpr std::array kWindowSlots{kEnsureParsability, kFillWithDummyObject};
constexpr std::array kAheadSlots{kEnsureParsability, kMemAllocate};
// static void CollectedHeap::fill_with_objects(HeapWord* start, size_t words, bool zap)
constexpr std::string_view kFillWithObjects = "_ZN13CollectedHeap17fill_with_objectsEPP12HeapWordImplmb";
constexpr std::array kWindowFunctions{kFillWithObjects};
constexpr std::string_view kMemset = "memset";
// JDK 17 and JDK 21+ spell the refill path differently.
constexpr std::array<std::string_view, 2> kRefillPaths{
    "_ZNK12MemAllocator25allocate_inside_tlab_slowERNS_10AllocationE",
    "_ZNK12MemAllocator29mem_allocate_inside_tlab_slowERNS_10AllocationE",
};
constexpr std::array<ImportNeed, 1> kImports{{{.function = kMemset, .called_by = kRefillPaths}}};

using AllocateNewTlab = void* (*)(void* heap, std::size_t min_words, std::size_t requested_words,
                                  std::size_t* actual_words);
using MemAllocate = void* (*)(void* heap, std::size_t words, bool* limit_exceeded);
using EnsureParsability = void (*)(void* heap, bool retire_tlabs);
using FillWithDummyObject = void (*)(void* heap, std::byte* start, std::byte* end, bool zap);
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
  std::string_view kernel;  // as the summary names it
  std::optional<Nursery> nursery;
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

// Set before the joints lead here.
constinit Zeroing* the_graft = nullptr;

// The TLAB this thread was handed and has not yet zeroed.
struct FreshTlab {
  std::byte* start = nullptr;
  std::size_t bytes = 0;
  std::size_t clean_bytes = 0;  // the first ones of it that are zero already
};
// initial-exec: found by one load, without the allocation that other models may do at a thread's first
// access, which would not be safe here (libjvm calls memset within signal handlers too). Its 24 bytes come
// out of the reserve that glibc keeps for libraries loaded late (rtld.optional_static_tls, glibc manual).
[[gnu::tls_model("initial-exec")]] constinit thread_local FreshTlab fresh_tlab;

void count(std::atomic<std::uint64_t>& counter, std::uint64_t value) {
  // Relaxed: counters are read at the end and order nothing.
  counter.fetch_add(value, std::memory_order_relaxed);
}

std::uint64_t value_of(const std::atomic<std::uint64_t>& counter) {
  return counter.load(std::memory_order_relaxed);  // relaxed: see count()
}

ZeroingStrategy strategy_now(const Zeroing& graft) {
  return graft.now.load(std::memory_order_relaxed);  // relaxed: changes only with the world stopped
}

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
    default:
      zero_now(graft, graft.ordinary, at, bytes);
  }
}

void* hand_out(const Windows::Window& window, std::size_t* actual_words) {
  fresh_tlab = {.start = window.start, .bytes = window.bytes, .clean_bytes = window.clean_bytes};
  *actual_words = window.bytes / kBytesPerWord;
  return window.start;
}

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
  // This call may collect (JDK 25 does so inside), hand out other TLABs on other threads, change the strategy,
  // and throw away what it found: only its result counts.
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
  fresh_tlab = {.start = start, .bytes = bytes, .clean_bytes = 0};
  return tlab;
}

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
  Zeroing& graft = *the_graft;
  if (!graft.windows.take_back(start, end)) {
    graft.fill_with_dummy_object(heap, start, end, zap);
  }
}

// The heap is about to be walked or collected, the world stopped: nobody may write to what is free any more.
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

template <typename Function>
std::uintptr_t address_of(Function* function) {
  // Vtable slots and import cells hold code addresses as integers.
  return reinterpret_cast<std::uintptr_t>(function);
}

template <typename Function>
void take_over(Patch& patch, const Joint& joint, Function& original, Function replacement) {
  // The joint was checked to hold a function of exactly this type.
  original = reinterpret_cast<Function>(joint.original);
  patch.replace(joint.cell, address_of(replacement));
}

bool has_nursery(Collector collector) {
  return std::ranges::find(kNurseryCollectors, collector) != kNurseryCollectors.end();
}

bool zeroes_ahead(const ZeroingOptions& options, Collector collector) {
  return options.uses(ZeroingStrategy::concurrent) || options.uses(ZeroingStrategy::pause) ||
         (options.uses(ZeroingStrategy::adaptive) && has_nursery(collector));
}

bool hands_out_windows(const ZeroingOptions& options) {
  return options.uses(ZeroingStrategy::windows) || options.uses(ZeroingStrategy::adaptive);
}

double rate(const Zeroing& graft) { return graft.cycle_rate.per_nanosecond(); }

ZeroingTotals totals(const Zeroing& graft) {
  ZeroingTotals totals{.allocated_bytes = value_of(graft.allocated_bytes),
                       .zeroed_bytes = value_of(graft.thread_bytes),
                       .zeroing_seconds = graft.thread_timer.seconds(rate(graft))};
  if (graft.ahead != nullptr) {
    const auto counts = graft.ahead->counts();
    totals.zeroed_bytes += counts.zeroed_ahead.count();
    totals.helper_cpu_seconds = to_seconds(counts.helper_cpu_time);
  }
  return totals;
}

void choose_kernels(Zeroing& graft, const ZeroingOptions& options) {
  graft.ordinary = memgraft_zero_chosen(MEMGRAFT_ZERO_ORDINARY);
  graft.non_temporal = memgraft_zero_chosen(MEMGRAFT_ZERO_NON_TEMPORAL);
  if (graft.non_temporal == nullptr) {
    if (options.uses(ZeroingStrategy::non_temporal)) {
      throw Refusal("zeroing=non-temporal is not possible on this machine",
                    {.looked_for = "non-temporal store instructions that a zeroing kernel uses",
                     .found = "none on this CPU",
                     .advice = "use zeroing=bulk or zeroing=windows"},
                    kExitCannotTakeGraft);
    }
    graft.non_temporal = graft.ordinary;
  }
  const bool ordinary = options.strategy == ZeroingStrategy::bulk || options.strategy == ZeroingStrategy::windows;
  graft.kernel = ordinary ? graft.ordinary->name : graft.non_temporal->name;
}

std::vector<ZeroingStrategy> on_thread_strategies(const Zeroing& graft) {
  std::vector strategies{ZeroingStrategy::windows, ZeroingStrategy::bulk};
  if (graft.non_temporal != graft.ordinary) {
    strategies.push_back(ZeroingStrategy::non_temporal);
  }
  return strategies;
}

void start_helper(Zeroing& graft) {
  if (graft.helper_reason == nullptr) {
    graft.helper_reason = new std::string;
    graft.helper_started = graft.ahead->start(*graft.helper_reason);
  }
}

// What the strategy that is now in force does with the free nursery.
void prepare_nursery(Zeroing& graft) {
  const ZeroingStrategy now = strategy_now(graft);
  if (now == ZeroingStrategy::concurrent) {
    start_helper(graft);
    graft.ahead->open(graft.nursery->free());
  } else if (now == ZeroingStrategy::pause) {
    const std::span<std::byte> free = graft.nursery->free();
    graft.pause_timer.time(Bytes(free.size()), [&] { graft.non_temporal->zero(free.data(), free.size()); });
    count(graft.pause_bytes, free.size());
    graft.zeroed_in_pause = free;
  }
}

}  // namespace

const Needs kZeroingNeeds{.graft = "zeroing",
                          .features = kFeatures,
                          .collectors = kGraftedCollectors,
                          .flags = kFlags,
                          .slots = kSlots,
                          .imports = kImports};

const Needs kWindowNeeds{.graft = "zeroing=windows",
                         .features = kFeatures,
                         .collectors = kGraftedCollectors,
                         .flags = {},
                         .slots = kWindowSlots,
                         .imports = {},
                         .functions = kWindowFunctions};

const Needs kAheadNeeds{.graft = "zeroing=concurrent",
                        .features = kFeatures,
                        .collectors = kNurseryCollectors,
                        .flags = kNurseryFlags,
                        .slots = kAheadSlots,
                        .imports = {},
                        .functions = {},
                        .nursery = true};

std::vector<const Needs*> zeroing_needs(const ZeroingOptions& options, Collector collector) {
  std::vector needs{&kZeroingNeeds};
  if (hands_out_windows(options)) {
    needs.push_back(&kWindowNeeds);
  }
  if (zeroes_ahead(options, collector)) {
    needs.push_back(&kAheadNeeds);
  }
  return needs;
}

bool zeroing_follows_collections(const ZeroingOptions& options) {
  return options.against || options.uses(ZeroingStrategy::concurrent) ||
         options.uses(ZeroingStrategy::pause) || options.uses(ZeroingStrategy::adaptive);
}

void install_zeroing(const ZeroingOptions& options, const Stock& stock, Collector collector, Patch& patch) {
  static Zeroing graft;
  choose_kernels(graft, options);
  const Joints joints = find_joints(kZeroingNeeds, stock, collector);
  graft.hands_out_windows = hands_out_windows(options);
  const bool ahead = zeroes_ahead(options, collector);
  std::optional<Joints> window_joints;
  std::optional<Joints> ahead_joints;
  if (graft.hands_out_windows) {
    window_joints = find_joints(kWindowNeeds, stock, collector);
    // A function of libjvm, whose mangled name tells its type.
    const auto fill = reinterpret_cast<FillWithObjects>(window_joints->at(kFillWithObjects).original);
    graft.windows.configure(options.window_bytes, fill);
  }
  if (ahead) {
    ahead_joints = find_joints(kAheadNeeds, stock, collector);
    graft.nursery = ahead_joints->nursery();
  }
  if (ahead && !options.uses(ZeroingStrategy::pause)) {
    graft.ahead = new zeroing::ZeroingAhead({.zero_ahead = graft.non_temporal->zero, .zero_now = graft.ordinary->zero});
  }
  if (options.strategy == ZeroingStrategy::adaptive) {
    graft.epochs = new Epochs(Adaptive(on_thread_strategies(graft), graft.ahead != nullptr));
  } else if (zeroing_follows_collections(options)) {
    graft.epochs = new Epochs(options.strategy, options.against);
  }
  graft.now = graft.epochs != nullptr ? graft.epochs->first() : options.strategy;
  graft.fresh_heap = has_nursery(collector) && zeroing_follows_collections(options);
  if (options.uses(ZeroingStrategy::concurrent)) {
    start_helper(graft);
  }
  the_graft = &graft;
  take_over(patch, joints.at(kMemset), graft.memset, &grafted_memset);
  take_over(patch, joints.at(kAllocateNewTlab.method), graft.allocate_new_tlab, &grafted_allocate_new_tlab);
  if (window_joints) {
    take_over(patch, window_joints->at(kFillWithDummyObject.method), graft.fill_with_dummy_object,
              &grafted_fill_with_dummy_object);
  }
  if (ahead_joints) {
    take_over(patch, ahead_joints->at(kMemAllocate.method), graft.mem_allocate, &grafted_mem_allocate);
  }
  if (window_joints || ahead_joints) {
    const Joints& with_it = window_joints ? *window_joints : *ahead_joints;
    take_over(patch, with_it.at(kEnsureParsability.method), graft.ensure_parsability, &grafted_ensure_parsability);
  }
}

void zeroing_collection_starts() {
  Zeroing& graft = *the_graft;
  graft.epochs->collection_starts(totals(graft));
  leave_free_memory_alone(graft);
}

void zeroing_collection_ended() {
  Zeroing& graft = *the_graft;
  leave_free_memory_alone(graft);
  // Relaxed: the world is stopped.
  graft.now.store(graft.epochs->collection_ended(totals(graft)), std::memory_order_relaxed);
  prepare_nursery(graft);
}

ZeroingCounts zeroing_counts() {
  const Zeroing& graft = *the_graft;
  const double cycles_per_nanosecond = rate(graft);
  ZeroingCounts counts;
  counts.kernel = graft.kernel;
  counts.tlabs = value_of(graft.tlabs);
  counts.missed_tlabs = value_of(graft.missed_tlabs);
  counts.cycles = graft.thread_timer.cycles(cycles_per_nanosecond);
  counts.by_threads = {.bytes = Bytes(value_of(graft.thread_bytes)),
                       .seconds = graft.thread_timer.seconds(cycles_per_nanosecond)};
  counts.in_pauses = {.bytes = Bytes(value_of(graft.pause_bytes)),
                      .seconds = graft.pause_timer.seconds(cycles_per_nanosecond)};
  counts.fresh = Bytes(value_of(graft.fresh_bytes));
  if (graft.hands_out_windows) {
    counts.windows = {.handed_out = graft.windows.handed_out(), .given_up = Bytes(graft.windows.given_up_bytes())};
  }
  if (graft.ahead != nullptr) {
    const auto ahead = graft.ahead->counts();
    counts.by_helper = {.bytes = ahead.zeroed_ahead, .seconds = to_seconds(ahead.helper_cpu_time)};
    ZeroingCounts::Helper helper{.started = graft.helper_started,
                                 .reason = graft.helper_reason != nullptr ? *graft.helper_reason : "",
                                 .ready = ahead.taken_ready,
                                 .waits = ahead.waits,
                                 .wait_seconds = to_seconds(ahead.wait_time),
                                 .steals = ahead.steals,
                                 .longest_close_seconds = to_seconds(ahead.longest_close)};
    if (helper.started && helper.reason.empty()) {
      (void)graft.ahead->can_steal(helper.reason);
    }
    counts.helper = helper;
  }
  return counts;
}

const Epochs* zeroing_epochs() { return the_graft->epochs; }

}  // namespace memgraft::hotspot
