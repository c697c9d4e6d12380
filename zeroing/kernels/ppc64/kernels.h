// The entry points of this folder's translation units.
#pragma once

#include <cstddef>

#include "../generic/block.h"

namespace memgraft::zeroing {

// What dcbz zeroes here; kernels.cpp finds it out.
extern KnownBlock dcbz_line;

// Zeroes the line that holds `at`.
inline void dcbz(std::byte* at) { asm volatile("dcbz 0, %0" : : "r"(at) : "memory"); }

void zero_dcbz_1(void* memory, std::size_t bytes);   // dcbz_line, AltiVec
void zero_dcbz_2(void* memory, std::size_t bytes);   // dcbz_line, AltiVec
void zero_dcbz_4(void* memory, std::size_t bytes);   // dcbz_line, AltiVec
void zero_altivec(void* memory, std::size_t bytes);  // AltiVec

}  // namespace memgraft::zeroing
