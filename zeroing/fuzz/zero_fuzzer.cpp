// A libFuzzer target: the input decides how memory is zeroed, place and length; the oracle of the tests
// decides whether it was right.
//   zero_fuzzer -max_total_time=60
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../tests/oracle.h"
#include "memgraft/disclaim.h"
#include "memgraft/zeroing.h"

namespace {

using memgraft::zeroing::testing::GuardedPages;
using memgraft::zeroing::testing::mistake;
using memgraft::zeroing::testing::Random;

constexpr std::size_t kMostBytes = std::size_t{64} << 10;  // all magnitudes, yet thousands of runs a second
constexpr std::size_t kMostGuard = 128;  // every alignment in a 64-byte line, and a whole line beyond

void disclaim_plain(void* memory, std::size_t bytes) {
  (void)memgraft_disclaim(memory, bytes, MEMGRAFT_DISCLAIM_PLAIN);
}
void disclaim_populate(void* memory, std::size_t bytes) {
  (void)memgraft_disclaim(memory, bytes, MEMGRAFT_DISCLAIM_POPULATE);
}
void disclaim_huge(void* memory, std::size_t bytes) {
  (void)memgraft_disclaim(memory, bytes, MEMGRAFT_DISCLAIM_HUGE);
}

struct Subject {
  const char* name;
  void (*zero)(void*, std::size_t);
};

// Every kernel that runs here, and every way to disclaim.
std::vector<Subject> subjects() {
  std::size_t count = 0;
  const memgraft_zero_kernel* first = memgraft_zero_kernels(&count);
  std::vector<Subject> all = {{.name = "disclaim", .zero = disclaim_plain},
                              {.name = "disclaim-populate", .zero = disclaim_populate},
                              {.name = "disclaim-huge", .zero = disclaim_huge}};
  for (const memgraft_zero_kernel& kernel : std::span(first, count)) {
    if (kernel.available) {
      all.push_back({.name = kernel.name, .zero = kernel.zero});
    }
  }
  return all;
}

// What an input says, in the order of its bytes; an input that is shorter leaves the rest 0.
struct Request {
  std::uint8_t subject;
  std::uint8_t before;      // scribbled bytes before the block; any value is taken modulo what there is
  std::uint8_t after;       // and after it
  std::uint8_t at_the_end;  // odd: at the end of the pages, which a guard page follows; even: at their start
  std::uint32_t length;
  std::uint32_t seed;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const GuardedPages pages(kMostGuard + kMostBytes + kMostGuard);
  static std::vector<std::byte> expected;
  Request request{};
  if (size > 0) {
    std::memcpy(&request, data, std::min(size, sizeof request));
  }

  static const std::vector<Subject> all = subjects();
  const Subject& subject = all[request.subject % all.size()];
  const std::size_t before = request.before % (kMostGuard + 1);
  const std::size_t length = request.length % (kMostBytes + 1);
  const std::size_t bytes = before + length + request.after % (kMostGuard + 1);
  const bool at_the_end = request.at_the_end % 2 == 1;
  const std::span<std::byte> memory = at_the_end ? pages.memory().last(bytes) : pages.memory().first(bytes);

  Random random(request.seed);
  const std::string wrong = mistake(subject.zero, memory, before, length, random, expected);
  if (!wrong.empty()) {
    (void)std::fprintf(stderr, "%s: %s\n", subject.name, wrong.c_str());
    std::abort();
  }
  return 0;
}
