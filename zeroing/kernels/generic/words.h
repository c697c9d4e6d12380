#pragma once

#include <cstddef>

namespace memgraft::zeroing {

void zero_word_1(void* memory, std::size_t bytes);
void zero_word_4(void* memory, std::size_t bytes);
void zero_word_8(void* memory, std::size_t bytes);

}  // namespace memgraft::zeroing
