// The entry points of this folder's translation units.
#pragma once

#include <cstddef>

namespace memgraft::zeroing {

// Asks Linux whether programs may use cbo.zero and of what size its block is, for the kernel below.
bool find_cbo_zero_block();

void zero_cbo_zero(void* memory, std::size_t bytes);  // find_cbo_zero_block()

}  // namespace memgraft::zeroing
