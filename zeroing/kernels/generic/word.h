#pragma once

#include <cstddef>

namespace memgraft::zeroing {

void zero_by_words(void* memory, std::size_t bytes);

}  // namespace memgraft::zeroing
