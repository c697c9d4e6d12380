// Kernels for CPUs with AVX-512F; compiled with -mavx512f. Nothing here may have external linkage but the
// entry points (see generic/shape.h).
#include <immintrin.h>

#include "../generic/shape.h"
#include "kernels.h"

namespace memgraft::zeroing {
namespace {

struct Ordinary64 {
  static constexpr std::size_t unit = kLineBytes;
  static constexpr Edges edges = Edges::overlapping;

  // A zero that the compiler does not know to be zero: it would make the loop a call of memset.
  Ordinary64() : zero_(_mm512_setzero_si512()) { asm("" : "+v"(zero_)); }

  void aligned(std::byte* at) const { _mm512_store_si512(at, zero_); }
  void unaligned(std::byte* at) const { _mm512_storeu_si512(at, zero_); }
  static void finish() {}

 private:
  __m512i zero_;
};

struct NonTemporal64 {
  static constexpr std::size_t unit = kLineBytes;
  static constexpr Edges edges = Edges::exact;

  static void aligned(std::byte* at) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(at), _mm512_setzero_si512());
  }
  static void finish() { _mm_sfence(); }
};

}  // namespace

void zero_avx512(void* memory, std::size_t bytes) { zero_with<Ordinary64>(memory, bytes); }

void zero_non_temporal_64(void* memory, std::size_t bytes) { zero_with<NonTemporal64>(memory, bytes); }

}  // namespace memgraft::zeroing
