// The baselines that everything is compared with: one store of 1, 4 or 8 bytes per turn of the loop (Cavanna,
// "Initializing memory efficiently on Power Architecture platforms", IBM developerWorks 2006, listings 1 and
// 2 and the text below them, but exact at both ends).
#include "words.h"

#include <cstdint>

#include "shape.h"
#include "word_store.h"

namespace memgraft::zeroing {

namespace {

struct Word1 : WordStore<std::uint8_t> {};
struct Word4 : WordStore<std::uint32_t> {};
struct Word8 : WordStore<std::uint64_t> {};

}  // namespace

void zero_word_1(void* memory, std::size_t bytes) { zero_with<Word1>(memory, bytes); }

void zero_word_4(void* memory, std::size_t bytes) { zero_with<Word4>(memory, bytes); }

void zero_word_8(void* memory, std::size_t bytes) { zero_with<Word8>(memory, bytes); }

}  // namespace memgraft::zeroing
