// Kernels for every x86-64 CPU: rep stosb and SSE2.
#include <emmintrin.h>

#include "../generic/shape.h"
#include "kernels.h"

namespace memgraft::zeroing {
namespace {

struct NonTemporal16 {
  static constexpr std::size_t unit = kLineBytes;
  static constexpr Edges edges = Edges::exact;

  static void aligned(std::byte* at) {
    const __m128i zero = _mm_setzero_si128();
    auto* line = reinterpret_cast<__m128i*>(at);
    _mm_stream_si128(line, zero);
    _mm_stream_si128(line + 1, zero);
    _mm_stream_si128(line + 2, zero);
    _mm_stream_si128(line + 3, zero);
  }
  static void finish() { _mm_sfence(); }
};

}  // namespace

void zero_rep_stosb(void* memory, std::size_t bytes) {
  // The direction flag is clear on entry to any function (System V ABI, AMD64 supplement, "Registers"). The
  // stores may become visible out of order among themselves, but all before any later store (Intel 64 and
  // IA-32 Architectures Software Developer's Manual, vol. 3A, "Fast-String Operation and Out-of-Order
  // Stores"): no fence is needed.
  asm volatile("rep stosb" : "+D"(memory), "+c"(bytes) : "a"(0) : "memory");
}

void zero_non_temporal_16(void* memory, std::size_t bytes) { zero_with<NonTemporal16>(memory, bytes); }

}  // namespace memgraft::zeroing
