// The kernels that every architecture has.
#include <cstring>

#include "../kernel.h"
#include "words.h"

namespace memgraft::zeroing {
namespace {

bool always() { return true; }

void zero_by_library(void* memory, std::size_t bytes) {
  if (bytes == 0) {
    return;  // memset may not be given a null pointer, not even then
  }
  std::memset(memory, 0, bytes);
}

}  // namespace

constinit const std::array<Kernel, 4> kGenericKernels = {{
    {.shown = {.name = "word-1",
               .description = "one 1-byte store per turn of a loop",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 1,
               .available = false,
               .zero = zero_word_1},
     .preference = Preference::only_for_comparison,
     .available = always,
     .pays = nullptr},
    {.shown = {.name = "word-4",
               .description = "one 4-byte store per turn of a loop",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 4,
               .available = false,
               .zero = zero_word_4},
     .preference = Preference::only_for_comparison,
     .available = always,
     .pays = nullptr},
    {.shown = {.name = "word-8",
               .description = "one 8-byte store per turn of a loop",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 8,
               .available = false,
               .zero = zero_word_8},
     .preference = Preference::only_for_comparison,
     .available = always,
     .pays = nullptr},
    {.shown = {.name = "memset",
               .description = "memset of the C library",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 0,
               .available = false,
               .zero = zero_by_library},
     .preference = Preference::library,
     .available = always,
     .pays = nullptr},
}};

}  // namespace memgraft::zeroing
