// A library with the joints of a HotSpot and nothing else: what no real JVM offers (a missing slot, a second
// call, lazy binding) and what sanitizers can follow. Variants are chosen by macros; see CMakeLists.txt. The
// graft is proved on real JVMs in tests/.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

// The names and signatures are HotSpot's, because joints are found by their mangled symbols.
bool UseSerialGC = false;
bool UseParallelGC = true;
bool UseG1GC = false;
bool UseTLAB = true;
bool ZeroTLAB = true;

namespace {
constexpr std::size_t kArenaBytes = 1 << 22;
alignas(64) std::array<std::byte, kArenaBytes> arena;
std::atomic<std::size_t> next_tlab_offset{0};
}  // namespace

class CollectedHeap {
 public:
#ifdef FAKE_OTHER_SIGNATURE
  virtual void* allocate_new_tlab(std::size_t words) = 0;
#else
  virtual void* allocate_new_tlab(std::size_t min_words, std::size_t requested_words,
                                  std::size_t* actual_words) = 0;
#endif
  virtual ~CollectedHeap() = default;
};

class ParallelScavengeHeap : public CollectedHeap {
 public:
#ifdef FAKE_OTHER_SIGNATURE
  void* allocate_new_tlab(std::size_t /*words*/) override { return nullptr; }
#else
  void* allocate_new_tlab(std::size_t min_words, std::size_t requested_words,
                          std::size_t* actual_words) override;
#endif
};

#ifndef FAKE_OTHER_SIGNATURE
void* ParallelScavengeHeap::allocate_new_tlab(std::size_t /*min_words*/, std::size_t requested_words,
                                              std::size_t* actual_words) {
  const std::size_t bytes = requested_words * sizeof(void*);
  const std::size_t offset = next_tlab_offset.fetch_add(bytes);
  if (offset + bytes > kArenaBytes) {
    return nullptr;
  }
  void* const tlab = &arena[offset];
  *actual_words = requested_words;
  return tlab;
}
#endif

namespace {
CollectedHeap* heap = nullptr;
}

class MemAllocator {
 public:
  struct Allocation {
    std::size_t words = 0;
    void* tlab = nullptr;
  };
  void mem_allocate_inside_tlab_slow(Allocation& allocation) const;
};

[[gnu::noinline]] void MemAllocator::mem_allocate_inside_tlab_slow(Allocation& allocation) const {
#ifndef FAKE_OTHER_SIGNATURE
  std::size_t actual_words = 0;
  allocation.tlab = heap->allocate_new_tlab(allocation.words, allocation.words, &actual_words);
#ifndef FAKE_NO_MEMSET_CALL
  if (allocation.tlab != nullptr && ZeroTLAB) {
    std::memset(allocation.tlab, 0, actual_words * sizeof(void*));
  }
#endif
#ifdef FAKE_TWO_MEMSET_CALLS
  std::memset(&allocation.words, 1, actual_words);
#endif
#endif
}

// What tests call. `fake_new_tlab` asks the heap only, as HotSpot does on its refill path before it zeroes.
extern "C" {
void fake_start() {
  static ParallelScavengeHeap parallel;
  heap = &parallel;
  next_tlab_offset = 0;
  // Scribbled over, so that only zeroing can make it zero.
  arena.fill(std::byte{0xa5});
}

void* fake_refill(std::size_t words) {
  MemAllocator::Allocation allocation{.words = words};
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
}
