#include "graft_zeroing.h"

#include <array>
#include <atomic>
#include <string>
#include <type_traits>

#include "clocks.h"
#include "memgraft/zeroing.h"
#include "refusal.h"

// With -XX:+ZeroTLAB HotSpot's refill path clears each fresh TLAB (gc/shared/memAllocator.cpp, JDK 17 to 25):
//
//     mem = heap->allocate_new_tlab(min_words, requested_words, &actual_words);    // virtual
//     if (ZeroTLAB) Copy::zero_to_words(mem, actual_words);                        // compiled into memset
//
// and compiled and interpreted code then leaves out its own zeroing of objects. So both calls are replaced:
// the first remembers, per thread, what was handed out, and the second recognises exactly that memory. Every
// other memset of libjvm goes on to the original one.

namespace memgraft::hotspot {

namespace {

constexpr std::array kFeatures{17, 21, 25};
constexpr std::array kGraftedCollectors{Collector::serial, Collector::parallel, Collector::g1};
constexpr std::array<FlagNeed, 2> kFlags{{
    {.name = "UseTLAB", .value = true, .option = "-XX:+UseTLAB"},
    {.name = "ZeroTLAB", .value = true, .option = "-XX:+ZeroTLAB"},
}};
// HeapWord* CollectedHeap::allocate_new_tlab(size_t min_words, size_t requested_words, size_t* actual_words)
constexpr std::string_view kAllocateNewTlab = "allocate_new_tlab";
constexpr std::array<SlotNeed, 1> kSlots{{{.method = kAllocateNewTlab, .arguments = "mmPm"}}};
constexpr std::string_view kMemset = "memset";
// JDK 17 and JDK 21+ spell the refill path differently.
constexpr std::array<std::string_view, 2> kRefillPaths{
    "_ZNK12MemAllocator25allocate_inside_tlab_slowERNS_10AllocationE",
    "_ZNK12MemAllocator29mem_allocate_inside_tlab_slowERNS_10AllocationE",
};
constexpr std::array<ImportNeed, 1> kImports{{{.function = kMemset, .called_by = kRefillPaths}}};

using AllocateNewTlab = void* (*)(void* heap, std::size_t min_words, std::size_t requested_words,
                                  std::size_t* actual_words);
using Memset = void* (*)(void* destination, int value, std::size_t bytes);

// One cache line (64 bytes on x86-64; two because of the adjacent-line prefetcher, Intel Optimization
// Reference Manual, section 2.5.5.4), so that threads counting refills do not share one with what every
// thread reads.
constexpr std::size_t kDestructiveBytes = 128;

struct Zeroing {
  // Written once, before the first Java thread exists.
  AllocateNewTlab allocate_new_tlab = nullptr;
  Memset memset = nullptr;
  const memgraft_zero_kernel* kernel = nullptr;

  alignas(kDestructiveBytes) std::atomic<std::uint64_t> tlabs{0};
  std::atomic<std::uint64_t> missed_tlabs{0};
  std::atomic<std::uint64_t> bytes{0};
  WorkTimer timer;
  CycleRate cycle_rate;
};

// Java threads may still refill while the process runs its exit handlers, so nothing here may be torn down.
static_assert(std::is_trivially_destructible_v<Zeroing>);

// Set before the joints lead here.
constinit Zeroing* the_graft = nullptr;

// The TLAB this thread was handed and has not yet zeroed.
struct FreshTlab {
  void* start = nullptr;
  std::size_t bytes = 0;
};
// initial-exec: found by one load, without the allocation that other models may do at a thread's first
// access, which would not be safe here (libjvm calls memset within signal handlers too). Its 16 bytes come
// out of the reserve that glibc keeps for libraries loaded late (rtld.optional_static_tls, glibc manual).
[[gnu::tls_model("initial-exec")]] constinit thread_local FreshTlab fresh_tlab;

void count(std::atomic<std::uint64_t>& counter, std::uint64_t value) {
  // Relaxed: counters are read at the end and order nothing.
  counter.fetch_add(value, std::memory_order_relaxed);
}

void* grafted_allocate_new_tlab(void* heap, std::size_t min_words, std::size_t requested_words,
                                std::size_t* actual_words) {
  Zeroing& graft = *the_graft;
  // This call may collect (JDK 25 does so inside), hand out other TLABs on other threads, and throw away what
  // it found: only its result counts.
  void* const tlab = graft.allocate_new_tlab(heap, min_words, requested_words, actual_words);
  if (fresh_tlab.start != nullptr) {
    count(graft.missed_tlabs, 1);
  }
  fresh_tlab = tlab == nullptr ? FreshTlab{}
                               : FreshTlab{.start = tlab, .bytes = to_bytes(Words(*actual_words)).count()};
  return tlab;
}

void* grafted_memset(void* destination, int value, std::size_t bytes) {
  Zeroing& graft = *the_graft;
  if (destination != fresh_tlab.start || bytes != fresh_tlab.bytes || value != 0 || destination == nullptr) {
    return graft.memset(destination, value, bytes);
  }
  fresh_tlab = {};
  graft.timer.time(Bytes(bytes), [&] { graft.kernel->zero(destination, bytes); });
  count(graft.tlabs, 1);
  count(graft.bytes, bytes);
  return destination;
}

template <typename Function>
std::uintptr_t address_of(Function* function) {
  // Vtable slots and import cells hold code addresses as integers.
  return reinterpret_cast<std::uintptr_t>(function);
}

}  // namespace

const Needs kZeroingNeeds{.graft = "zeroing",
                          .features = kFeatures,
                          .collectors = kGraftedCollectors,
                          .flags = kFlags,
                          .slots = kSlots,
                          .imports = kImports};

void install_zeroing(ZeroingStrategy strategy, const Joints& joints, Patch& patch) {
  const auto stores = strategy == ZeroingStrategy::bulk ? MEMGRAFT_ZERO_ORDINARY : MEMGRAFT_ZERO_NON_TEMPORAL;
  const memgraft_zero_kernel* const kernel = memgraft_zero_chosen(stores);
  if (kernel == nullptr) {
    throw Refusal("zeroing=" + std::string(name_of(strategy)) + " is not possible on this machine",
                  {.looked_for = "non-temporal store instructions that a zeroing kernel uses",
                   .found = "none on this CPU",
                   .advice = "use zeroing=bulk"},
                  kExitCannotTakeGraft);
  }
  const Joint& slot = joints.at(kAllocateNewTlab);
  const Joint& import = joints.at(kMemset);
  static Zeroing graft;
  // The joints were checked to hold functions of exactly these types.
  graft.allocate_new_tlab = reinterpret_cast<AllocateNewTlab>(slot.original);
  graft.memset = reinterpret_cast<Memset>(import.original);
  graft.kernel = kernel;
  the_graft = &graft;
  patch.replace(import.cell, address_of(&grafted_memset));
  patch.replace(slot.cell, address_of(&grafted_allocate_new_tlab));
}

ZeroingCounts zeroing_counts() {
  const Zeroing& graft = *the_graft;
  const double rate = graft.cycle_rate.per_nanosecond();
  return {.kernel = graft.kernel->name,
          .tlabs = graft.tlabs.load(std::memory_order_relaxed),
          .missed_tlabs = graft.missed_tlabs.load(std::memory_order_relaxed),
          .bytes = Bytes(graft.bytes.load(std::memory_order_relaxed)),
          .cycles = graft.timer.cycles(rate),
          .seconds = graft.timer.seconds(rate)};
}

}  // namespace memgraft::hotspot
