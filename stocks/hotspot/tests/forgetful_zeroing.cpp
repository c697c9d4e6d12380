// Zeroing that forgets a word: an agent built with it shows whether a workload would notice. Not everything,
// because then the JDK's own objects are full of dirt too: threads die of it while others wait for them.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "memgraft/zeroing.h"

namespace {

void forget(void* memory, std::size_t bytes) {
  std::uint64_t word = 0;
  void* const middle = static_cast<std::byte*>(memory) + (bytes / 2 / sizeof word * sizeof word);
  const std::size_t kept = bytes < sizeof word ? 0 : sizeof word;
  std::memcpy(&word, middle, kept);
  std::memset(memory, 0, bytes);
  std::memcpy(middle, &word, kept);
}

constexpr memgraft_zero_kernel kForgetful{.name = "forgetful",
                                          .description = "zeroes all but the word in the middle",
                                          .stores = MEMGRAFT_ZERO_ORDINARY,
                                          .width = 0,
                                          .available = true,
                                          .zero = forget};

}  // namespace

const memgraft_zero_kernel* memgraft_zero_chosen(enum memgraft_zero_stores /*stores*/) { return &kForgetful; }

const memgraft_zero_kernel* memgraft_zero_best(enum memgraft_zero_use /*use*/, std::size_t /*bytes*/,
                                               unsigned /*threads*/) {
  return &kForgetful;
}

bool memgraft_zero_load_table(const char* /*path*/, char* /*error*/, std::size_t /*error_bytes*/) {
  return true;
}
