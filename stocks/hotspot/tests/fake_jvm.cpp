// A library with the joints of a HotSpot and a heap just large enough to see grafts work: what no real JVM
// offers (a missing slot, a second call, lazy binding) and what sanitizers can follow. Variants are chosen by
// macros; see CMakeLists.txt. The grafts are proved on real JVMs in tests/.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

// The names and signatures are HotSpot's, because joints are found by their mangled symbols.
bool UseSerialGC = false;
bool UseParallelGC = true;
bool UseG1GC = false;
bool UseTLAB = true;
bool UseNUMA = false;
bool ZeroTLAB = true;

class HeapWordImpl;
using HeapWord = HeapWordImpl*;

namespace {

constexpr std::size_t kArenaBytes = 1 << 22;
constexpr std::size_t kWord = sizeof(void*);
alignas(64) std::array<std::byte, kArenaBytes> arena;

// An object is a header word with its length in words, then its fields. A dummy object has this bit set as
// well.
constexpr std::uint64_t kDummy = std::uint64_t{1} << 63U;

void write_word(std::byte* at, std::uint64_t value) { std::memcpy(at, &value, sizeof value); }

std::byte* bytes_of(HeapWord* at) { return reinterpret_cast<std::byte*>(at); }

}  // namespace

struct MutableSpace {
  std::uint64_t before = 0;  // so that no offset is 0 by chance
  std::byte* bottom = nullptr;
  std::atomic<std::byte*> top{nullptr};
  std::byte* end = nullptr;

  std::byte* allocate(std::size_t bytes) {
    std::byte* at = top.load();
    while (static_cast<std::size_t>(end - at) >= bytes) {
      if (top.compare_exchange_weak(at, at + bytes)) {
        return at;
      }
    }
    return nullptr;
  }
};

struct PSYoungGen {
  std::uint64_t before = 0;
  MutableSpace* eden = nullptr;
};

class CollectedHeap {
 public:
#ifdef FAKE_OTHER_SIGNATURE
  virtual void* allocate_new_tlab(std::size_t words) = 0;
#else
  virtual void* allocate_new_tlab(std::size_t min_words, std::size_t requested_words,
                                  std::size_t* actual_words) = 0;
#endif
  virtual void* mem_allocate(std::size_t words, bool* limit_exceeded) = 0;
  virtual void ensure_parsability(bool retire_tlabs);
  virtual void fill_with_dummy_object(HeapWord* start, HeapWord* end, bool zap);
  virtual ~CollectedHeap() = default;
  static void fill_with_objects(HeapWord* start, std::size_t words, bool zap);
};

class ParallelScavengeHeap : public CollectedHeap {
 public:
#ifdef FAKE_OTHER_SIGNATURE
  void* allocate_new_tlab(std::size_t /*words*/) override { return nullptr; }
#else
  void* allocate_new_tlab(std::size_t min_words, std::size_t requested_words,
                          std::size_t* actual_words) override;
#endif
  void* mem_allocate(std::size_t words, bool* limit_exceeded) override;
};

namespace {

MutableSpace eden;
PSYoungGen young{.before = 0, .eden = &eden};
PSYoungGen* young_gen = nullptr;
CollectedHeap* heap = nullptr;

struct Tlab {
  std::byte* top = nullptr;
  std::byte* end = nullptr;

  void retire() {
    if (top != end) {
      heap->fill_with_dummy_object(reinterpret_cast<HeapWord*>(top), reinterpret_cast<HeapWord*>(end), true);
    }
    *this = {};
  }
};

std::mutex tlabs_mutex;
std::vector<Tlab*> tlabs;

// Retired at the thread's end, as HotSpot does.
struct ThreadsTlab {
  ThreadsTlab() {
    const std::scoped_lock lock(tlabs_mutex);
    tlabs.push_back(&tlab);
  }
  ~ThreadsTlab() {
    tlab.retire();
    const std::scoped_lock lock(tlabs_mutex);
    std::erase(tlabs, &tlab);
  }
  ThreadsTlab(const ThreadsTlab&) = delete;
  ThreadsTlab& operator=(const ThreadsTlab&) = delete;
  ThreadsTlab(ThreadsTlab&&) = delete;
  ThreadsTlab& operator=(ThreadsTlab&&) = delete;
  Tlab tlab;
};
thread_local ThreadsTlab threads_tlab;

}  // namespace

// Called within the heap's own allocation of a TLAB, where JDK 25 may collect; null: nothing.
extern "C" {
void (*fake_in_allocation)() = nullptr;
}

#ifndef FAKE_OTHER_SIGNATURE
void* ParallelScavengeHeap::allocate_new_tlab(std::size_t /*min_words*/, std::size_t requested_words,
                                              std::size_t* actual_words) {
  if (fake_in_allocation != nullptr) {
    fake_in_allocation();
  }
  void* const tlab = eden.allocate(requested_words * kWord);
  if (tlab != nullptr) {
    *actual_words = requested_words;
  }
  return tlab;
}
#endif

void* ParallelScavengeHeap::mem_allocate(std::size_t words, bool* limit_exceeded) {
  *limit_exceeded = false;
  return eden.allocate(words * kWord);
}

void CollectedHeap::ensure_parsability(bool /*retire_tlabs*/) {
  const std::scoped_lock lock(tlabs_mutex);
  for (Tlab* tlab : tlabs) {
    tlab->retire();
  }
}

void CollectedHeap::fill_with_dummy_object(HeapWord* start, HeapWord* end, bool zap) {
  fill_with_objects(start, static_cast<std::size_t>(bytes_of(end) - bytes_of(start)) / kWord, zap);
}

void CollectedHeap::fill_with_objects(HeapWord* start, std::size_t words, bool /*zap*/) {
  std::memset(start, 0x77, words * kWord);
  write_word(bytes_of(start), kDummy | words);
}

// A table of structures like HotSpot's, and where its columns are.
struct VMStructEntry {
  const char* type;
  const char* field;
  const char* type_string;
  std::int32_t is_static;
  std::uint64_t offset;
  void* address;
};

extern "C" {
std::uint64_t gHotSpotVMStructEntryTypeNameOffset = offsetof(VMStructEntry, type);
std::uint64_t gHotSpotVMStructEntryFieldNameOffset = offsetof(VMStructEntry, field);
std::uint64_t gHotSpotVMStructEntryIsStaticOffset = offsetof(VMStructEntry, is_static);
std::uint64_t gHotSpotVMStructEntryOffsetOffset = offsetof(VMStructEntry, offset);
std::uint64_t gHotSpotVMStructEntryAddressOffset = offsetof(VMStructEntry, address);
std::uint64_t gHotSpotVMStructEntryArrayStride = sizeof(VMStructEntry);
}

namespace {
std::array kStructs{
    VMStructEntry{"ParallelScavengeHeap", "_young_gen", "PSYoungGen*", 1, 0, &young_gen},
    VMStructEntry{"PSYoungGen", "_eden_space", "MutableSpace*", 0, offsetof(PSYoungGen, eden), nullptr},
    VMStructEntry{"MutableSpace", "_bottom", "HeapWord*", 0, offsetof(MutableSpace, bottom), nullptr},
    VMStructEntry{"MutableSpace", "_top", "HeapWord*", 0, offsetof(MutableSpace, top), nullptr},
#ifndef FAKE_NO_EDEN_END
    VMStructEntry{"MutableSpace", "_end", "HeapWord*", 0, offsetof(MutableSpace, end), nullptr},
#endif
    VMStructEntry{nullptr, nullptr, nullptr, 0, 0, nullptr},
};
}  // namespace

extern "C" {
VMStructEntry* gHotSpotVMStructs = kStructs.data();
}

class MemAllocator {
 public:
  struct Allocation {
    std::size_t words = 0;
    std::size_t least_words = 0;
    void* tlab = nullptr;
    std::size_t actual_words = 0;
    bool zeroed = false;  // written after the call of memset, which is thereby a call and no jump
  };
  void mem_allocate_inside_tlab_slow(Allocation& allocation) const;
};

[[gnu::noinline]] void MemAllocator::mem_allocate_inside_tlab_slow(Allocation& allocation) const {
#ifndef FAKE_OTHER_SIGNATURE
  allocation.tlab =
      heap->allocate_new_tlab(allocation.least_words, allocation.words, &allocation.actual_words);
#ifndef FAKE_NO_MEMSET_CALL
  if (allocation.tlab != nullptr && ZeroTLAB) {
    std::memset(allocation.tlab, 0, allocation.actual_words * kWord);
    allocation.zeroed = true;
  }
#endif
#ifdef FAKE_TWO_MEMSET_CALLS
  std::memset(&allocation.words, 1, allocation.actual_words);
  allocation.zeroed = false;
#endif
#endif
}

// What tests call. `fake_new_tlab` asks the heap only, as HotSpot does on its refill path before it zeroes.
extern "C" {
void fake_start() {
  static ParallelScavengeHeap parallel;
  heap = &parallel;
  young_gen = &young;
  eden.bottom = arena.data();
  eden.top = arena.data();
  eden.end = arena.data() + arena.size();
  // Scribbled over, so that only zeroing can make it zero.
  arena.fill(std::byte{0xa5});
}

// Memory as the system maps it.
void fake_fresh() { arena.fill(std::byte{0}); }

void* fake_refill(std::size_t words) {
  MemAllocator::Allocation allocation{.words = words, .least_words = words};
  MemAllocator().mem_allocate_inside_tlab_slow(allocation);
  return allocation.tlab;
}

void* fake_new_tlab(std::size_t words) {
#ifdef FAKE_OTHER_SIGNATURE
  return heap->allocate_new_tlab(words);
#else
  std::size_t actual_words = 0;
  return heap->allocate_new_tlab(words, words, &actual_words);
#endif
}

void fake_memset(void* memory, int value, std::size_t bytes) { std::memset(memory, value, bytes); }

// An object of so many words in this thread's TLAB, of which HotSpot would want `tlab_words`; outside it
// where the heap gives none. Null where the heap is full. Its fields are as they were found.
void* fake_object(std::size_t words, std::size_t tlab_words) {
  Tlab& tlab = threads_tlab.tlab;
  std::byte* object = nullptr;
  if (static_cast<std::size_t>(tlab.end - tlab.top) < words * kWord) {
    tlab.retire();
    MemAllocator::Allocation allocation{.words = tlab_words + words, .least_words = words};
    MemAllocator().mem_allocate_inside_tlab_slow(allocation);
    if (allocation.tlab != nullptr) {
      tlab.top = static_cast<std::byte*>(allocation.tlab);
      tlab.end = tlab.top + (allocation.actual_words * kWord);
    }
  }
  if (static_cast<std::size_t>(tlab.end - tlab.top) >= words * kWord) {
    object = tlab.top;
    tlab.top += words * kWord;
  } else {
    bool limit_exceeded = false;
    object = static_cast<std::byte*>(heap->mem_allocate(words, &limit_exceeded));
    if (object != nullptr) {
      std::memset(object, 0, words * kWord);
    }
  }
  if (object != nullptr) {
    write_word(object, words);
  }
  return object;
}

// Walks the heap as a collection of G1 finds it since JDK 18: TLABs are retired, and no method is called that
// a graft could replace. No other thread may allocate. True if every word belongs to an object. `dummy_words`
// receives how much was filled.
bool fake_walk_young(std::size_t* dummy_words) {
  heap->CollectedHeap::ensure_parsability(true);
  *dummy_words = 0;
  const std::byte* at = eden.bottom;
  while (at < eden.top) {
    std::uint64_t header = 0;
    std::memcpy(&header, at, sizeof header);
    const std::uint64_t words = header & ~kDummy;
    if (words == 0 || words > static_cast<std::size_t>(eden.end - at) / kWord) {
      return false;
    }
    *dummy_words += (header & kDummy) != 0 ? words : 0;
    at += words * kWord;
  }
  return at == eden.top;
}

// The same as other collectors and walks do it.
bool fake_walk(std::size_t* dummy_words) {
  heap->ensure_parsability(true);
  return fake_walk_young(dummy_words);
}

// An eden that makes no sense.
void fake_spoil() { eden.end = eden.bottom; }

// Empties eden, as a collection that finds nothing alive, and leaves dirt in it.
void fake_empty() {
  eden.top = eden.bottom;
  std::memset(arena.data(), 0xa5, arena.size());
}
}
