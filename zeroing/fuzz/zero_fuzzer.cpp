// A libFuzzer target: the input decides kernel, place and length; the oracle of the tests decides whether it
// was right.
//   zero_fuzzer -max_total_time=60
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../tests/oracle.h"
#include "memgraft/zeroing.h"

namespace {

using memgraft::zeroing::testing::GuardedPages;
using memgraft::zeroing::testing::mistake;
using memgraft::zeroing::testing::Random;

constexpr std::size_t most_bytes = std::size_t{64} << 10;  // all magnitudes, yet thousands of runs a second
constexpr std::size_t most_guard = 128;  // every alignment in a 64-byte line, and a whole line beyond

/// What an input says, in the order of its bytes; an input that is shorter leaves the rest 0.
struct Request {
  std::uint8_t kernel;
  std::uint8_t before;  ///< scribbled bytes before the block; any value is taken modulo what there is
  std::uint8_t after;   ///< and after it
  std::uint8_t
      at_the_end;  ///< odd: at the end of the pages, which a guard page follows; even: at their start
  std::uint32_t length;
  std::uint32_t seed;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const GuardedPages pages(most_guard + most_bytes + most_guard);
  static std::vector<std::byte> expected;
  Request request{};
  if (size > 0) {
    std::memcpy(&request, data, std::min(size, sizeof request));
  }

  std::size_t count = 0;
  const memgraft_zero_kernel* kernels = memgraft_zero_kernels(&count);
  const memgraft_zero_kernel& kernel = kernels[request.kernel % count];
  if (!kernel.available) {
    return 0;
  }
  const std::size_t before = request.before % (most_guard + 1);
  const std::size_t length = request.length % (most_bytes + 1);
  const std::size_t bytes = before + length + request.after % (most_guard + 1);
  const bool at_the_end = request.at_the_end % 2 == 1;
  const std::span<std::byte> memory = at_the_end ? pages.memory().last(bytes) : pages.memory().first(bytes);

  Random random(request.seed);
  const std::string wrong = mistake(kernel.zero, memory, before, length, random, expected);
  if (!wrong.empty()) {
    (void)std::fprintf(stderr, "%s: %s\n", kernel.name, wrong.c_str());
    std::abort();
  }
  return 0;
}
