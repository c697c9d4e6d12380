// Disclaim, measured beside the kernels.
#pragma once

#include <cstddef>
#include <span>

namespace memgraft::zeroing::bench {

// Registers zero/disclaim.../<mode>/<bytes> for every size of at least a page, and of disclaim-huge of at
// least a huge page. `use` is what a program does with a block in the mode streaming-used.
void add_disclaims(std::span<const std::size_t> sizes, std::span<const std::size_t> used_sizes,
                   void (*use)(std::byte* block, std::size_t bytes));

}  // namespace memgraft::zeroing::bench
