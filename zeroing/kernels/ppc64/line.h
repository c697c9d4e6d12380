#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "../generic/block.h"

namespace memgraft::zeroing {

// The size of a cache line, found as Cavanna does ("Initializing memory efficiently on Power Architecture
// platforms", IBM developerWorks 2006, listing 7): a buffer is filled with ones, `clear_line` zeroes the
// line that holds its middle, the zeroes are counted. 0 where the count is no size that a line can have.
// Unlike his, the buffer is aligned, so that no line of any sane size reaches beyond it.
template <class ClearLine>
std::size_t line_size(ClearLine clear_line) {
  constexpr std::size_t kPage = 4096;
  alignas(kPage) std::array<std::byte, kPage> buffer{};
  buffer.fill(std::byte{0xff});
  clear_line(&buffer[kPage / 2]);
  return sane_block(static_cast<std::size_t>(std::ranges::count(buffer, std::byte{0})));
}

}  // namespace memgraft::zeroing
