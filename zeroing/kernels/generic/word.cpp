// The baseline that everything is compared with: one 4-byte store per turn of the loop (Cavanna,
// "Initializing memory efficiently on Power Architecture platforms", IBM developerWorks 2006, listing 2, but
// exact at both ends).
#include "word.h"

#include <cstdint>

#include "shape.h"

namespace memgraft::zeroing {
namespace {

struct WordStore {
  // Memory of any type is zeroed, hence may_alias; volatile, because each store must stay one instruction: a
  // compiler would otherwise make the loop a call of memset (gcc: -ftree-loop-distribute-patterns) or
  // vectorise it.
  using Word [[gnu::may_alias]] = volatile std::uint32_t;

  static constexpr std::size_t unit = sizeof(Word);
  static constexpr Edges edges = Edges::exact;

  static void aligned(std::byte* at) { *reinterpret_cast<Word*>(at) = 0; }
  static void finish() {}
};

}  // namespace

void zero_by_words(void* memory, std::size_t bytes) { zero_with<WordStore>(memory, bytes); }

}  // namespace memgraft::zeroing
