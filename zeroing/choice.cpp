// Which kernels this CPU has, and which one is used: found out once, at the first call.
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>

#include "kernels/kernel.h"
#include "memgraft/zeroing.h"

namespace memgraft::zeroing {
namespace {

constexpr std::size_t kKernelCount = kGenericKernels.size() + kIsaKernels.size();

struct Known {
  std::array<memgraft_zero_kernel, kKernelCount> kernels;
  const memgraft_zero_kernel* ordinary;
  const memgraft_zero_kernel* non_temporal;
};

constinit Known known{};
constinit pthread_once_t looked = PTHREAD_ONCE_INIT;

// The widest vector stores win, of either kind: the fewest instructions a byte, and 64-byte ones fill a line
// at once, so that no line leaves its write-combining buffer half full (Intel 64 and IA-32 Architectures
// Optimization Reference Manual, "Write Combining"). Except for ordinary stores of 64 bytes on CPUs that have
// AVX-512 but are slow at them. GB/s measured when streaming blocks of 32 KiB:
//                                         avx512  avx2  memset  non-temporal-64  non-temporal-16
//   48 KiB L1D, 2 MiB L2 (Sapphire Rapids)  11     9.5    8.6          21               17
//   32 KiB L1D, 1 MiB L2 (Cascade Lake)      6.7   8.5    6.8           6.7              6.8
// The second row is from experiments/records/2026-11-20-cascade-lake-2cpu, the first is older than the
// records. That is a default by CPU family and no verdict: any kernel can be called by its name. The word
// loops and rep stosb are there to be compared with; memset of glibc uses rep stosb where it pays. The
// reasons for other instruction sets are in kernels/<folder>/kernels.cpp.
class Choosing {
 public:
  template <std::size_t count>
  void from(const std::array<Kernel, count>& kernels) {
    for (const Kernel& kernel : kernels) {
      consider(kernel);
    }
  }

 private:
  void consider(const Kernel& kernel) {
    memgraft_zero_kernel& shown = known.kernels[filled_++];
    shown = kernel.shown;
    shown.available = kernel.available();
    const bool ordinary = shown.stores == MEMGRAFT_ZERO_ORDINARY;
    Preference& best = ordinary ? best_ordinary_ : best_non_temporal_;
    const bool pays = kernel.pays == nullptr || kernel.pays();
    if (shown.available && pays && kernel.preference > best) {
      best = kernel.preference;
      (ordinary ? known.ordinary : known.non_temporal) = &shown;
    }
  }

  std::size_t filled_ = 0;
  Preference best_ordinary_ = Preference::only_for_comparison;
  Preference best_non_temporal_ = Preference::only_for_comparison;
};

void look() {
  Choosing choosing;
  choosing.from(kGenericKernels);
  choosing.from(kIsaKernels);
}

// pthread_once rather than a static local variable: that would need the C++ runtime, which a C program does
// not link.
const Known& look_once() {
  pthread_once(&looked, look);
  return known;
}

// The functions that the public calls jump to: at first one that looks at the CPU, then the chosen kernel
// itself. Relaxed is enough everywhere: a function's address is all that is passed, and both addresses do the
// right thing.
using Zero = void (*)(void*, std::size_t);

void zero_first(void* memory, std::size_t bytes);
void zero_non_temporal_first(void* memory, std::size_t bytes);

constinit std::atomic<Zero> zero_now{zero_first};
constinit std::atomic<Zero> zero_non_temporal_now{zero_non_temporal_first};

void zero_first(void* memory, std::size_t bytes) {
  const Zero chosen = look_once().ordinary->zero;
  zero_now.store(chosen, std::memory_order_relaxed);  // relaxed: see above
  chosen(memory, bytes);
}

void zero_non_temporal_first(void* memory, std::size_t bytes) {
  const Known& all = look_once();
  const Zero chosen = (all.non_temporal != nullptr ? all.non_temporal : all.ordinary)->zero;
  zero_non_temporal_now.store(chosen, std::memory_order_relaxed);  // relaxed: see above
  chosen(memory, bytes);
}

}  // namespace
}  // namespace memgraft::zeroing

const memgraft_zero_kernel* memgraft_zero_kernels(std::size_t* count) {
  const auto& kernels = memgraft::zeroing::look_once().kernels;
  *count = kernels.size();
  return kernels.data();
}

const memgraft_zero_kernel* memgraft_zero_chosen(memgraft_zero_stores stores) {
  const auto& known = memgraft::zeroing::look_once();
  return stores == MEMGRAFT_ZERO_ORDINARY ? known.ordinary : known.non_temporal;
}

void memgraft_zero(void* memory, std::size_t bytes) {
  // Relaxed: see the pointers.
  memgraft::zeroing::zero_now.load(std::memory_order_relaxed)(memory, bytes);
}

void memgraft_zero_non_temporal(void* memory, std::size_t bytes) {
  // Relaxed: see the pointers.
  memgraft::zeroing::zero_non_temporal_now.load(std::memory_order_relaxed)(memory, bytes);
}
