// Kernels for CPUs with AVX2; compiled with -mavx2. Nothing here may have external linkage but the entry
// points (see generic/shape.h).
#include <immintrin.h>

#include "../generic/shape.h"
#include "kernels.h"

namespace memgraft::zeroing {
namespace {

struct Ordinary32 {
  static constexpr std::size_t unit = kLineBytes;
  static constexpr Edges edges = Edges::overlapping;

  // A zero that the compiler does not know to be zero: it would make the loop a call of memset.
  Ordinary32() : zero_(_mm256_setzero_si256()) { asm("" : "+x"(zero_)); }

  void aligned(std::byte* at) const {
    auto* line = reinterpret_cast<__m256i*>(at);
    _mm256_store_si256(line, zero_);
    _mm256_store_si256(line + 1, zero_);
  }
  void unaligned(std::byte* at) const {
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(at), zero_);
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(at + sizeof(__m256i)), zero_);
  }
  static void finish() {}

 private:
  __m256i zero_;
};

struct NonTemporal32 {
  static constexpr std::size_t unit = kLineBytes;
  static constexpr Edges edges = Edges::exact;

  static void aligned(std::byte* at) {
    const __m256i zero = _mm256_setzero_si256();
    auto* line = reinterpret_cast<__m256i*>(at);
    _mm256_stream_si256(line, zero);
    _mm256_stream_si256(line + 1, zero);
  }
  static void finish() { _mm_sfence(); }
};

}  // namespace

void zero_avx2(void* memory, std::size_t bytes) { zero_with<Ordinary32>(memory, bytes); }

void zero_non_temporal_32(void* memory, std::size_t bytes) { zero_with<NonTemporal32>(memory, bytes); }

}  // namespace memgraft::zeroing
