// The entry points of this folder's translation units.
#pragma once

#include <cstddef>

namespace memgraft::zeroing {

void zero_dc_zva_1(void* memory, std::size_t bytes);         // DC ZVA not prohibited
void zero_dc_zva_2(void* memory, std::size_t bytes);         // DC ZVA not prohibited
void zero_dc_zva_4(void* memory, std::size_t bytes);         // DC ZVA not prohibited
void zero_non_temporal_32(void* memory, std::size_t bytes);  // any AArch64

}  // namespace memgraft::zeroing
