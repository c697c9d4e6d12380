// One store of a word, for the shape in shape.h: a base of Stores, for translation units of the baseline CPU.
#pragma once

#include <cstddef>

#include "shape.h"

namespace memgraft::zeroing {

template <class Unsigned>
struct WordStore {
  // Memory of any type is zeroed, hence may_alias; volatile, because each store must stay one instruction: a
  // compiler would otherwise make the loop a call of memset (gcc: -ftree-loop-distribute-patterns) or
  // vectorise it.
  using Word [[gnu::may_alias]] = volatile Unsigned;

  static constexpr std::size_t unit = sizeof(Word);
  static constexpr Edges edges = Edges::exact;

  static void aligned(std::byte* at) { *reinterpret_cast<Word*>(at) = 0; }
  static void finish() {}  // ordinary stores
};

}  // namespace memgraft::zeroing
