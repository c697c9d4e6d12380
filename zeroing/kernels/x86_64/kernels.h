// The entry points of this folder's translation units. Those in avx2.cpp and avx512.cpp are compiled for such
// CPUs and are only called there: whether they may be is asked in kernels.cpp, which is compiled for the
// baseline.
#pragma once

#include <cstddef>

namespace memgraft::zeroing {

// Bytes of a cache line, and of a write-combining buffer: a non-temporal store goes to memory in one piece
// only when the whole line has been stored. 64 on every x86-64 CPU so far (Intel 64 and IA-32 Architectures
// Optimization Reference Manual, "Write Combining"; AMD64 Architecture Programmer's Manual, vol. 2,
// "Buffering and Combining Memory Writes").
inline constexpr std::size_t kLineBytes = 64;

void zero_rep_stosb(void* memory, std::size_t bytes);        // any x86-64
void zero_non_temporal_16(void* memory, std::size_t bytes);  // any x86-64
void zero_avx2(void* memory, std::size_t bytes);             // AVX2
void zero_non_temporal_32(void* memory, std::size_t bytes);  // AVX2
void zero_avx512(void* memory, std::size_t bytes);           // AVX-512F
void zero_non_temporal_64(void* memory, std::size_t bytes);  // AVX-512F
void zero_clzero(void* memory, std::size_t bytes);           // CLZERO, lines of kLineBytes
void zero_movdir64b(void* memory, std::size_t bytes);        // MOVDIR64B

}  // namespace memgraft::zeroing
