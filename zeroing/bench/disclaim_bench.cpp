#include "disclaim_bench.h"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "memgraft/disclaim.h"
#include "region.h"

namespace memgraft::zeroing::bench {
namespace {

struct Way {
  const char* name;
  memgraft_disclaim_variant variant;
  std::size_t least_bytes;  // smaller blocks have nothing that could be given back
};

using Use = void (*)(std::byte*, std::size_t);

constexpr std::size_t kHugePage = std::size_t{2} << 20;  // of x86-64; blocks here begin at a multiple of it

// Blocks one after another, all of whose pages are there when they are disclaimed. In memory of its own,
// made anew for each run: giving back splits huge pages and the advice for huge ones stays, so that the
// kernels would later meet other memory than before. It need not be larger than the caches: what is used
// after a disclaim are not these pages but those that the system hands out.
class Blocks {
 public:
  Blocks(std::size_t bytes, memgraft_disclaim_variant variant)
      : region_(std::max(4 * kHugePage, 2 * bytes) + kHugePage),
        bytes_(bytes),
        first_(region_.memory().data() +
               -reinterpret_cast<std::uintptr_t>(region_.memory().data()) % kHugePage),
        end_(first_ + region_.memory().size() - kHugePage) {
    if (variant == MEMGRAFT_DISCLAIM_HUGE) {  // what there is to give back are huge pages from the start on
      (void)memgraft_disclaim(first_, static_cast<std::size_t>(end_ - first_), variant);
      fault_in();
    }
  }

  std::byte* next(benchmark::State& state, bool all_used) {
    if (std::cmp_greater(bytes_, end_ - at_)) {
      at_ = first_;
      if (!all_used) {
        state.PauseTiming();
        fault_in();
        state.ResumeTiming();
      }
    }
    std::byte* block = at_;
    at_ += bytes_;
    return block;
  }

 private:
  void fault_in() { std::memset(first_, 0xff, static_cast<std::size_t>(end_ - first_)); }

  Region region_;
  std::size_t bytes_;
  std::byte* first_;
  std::byte* end_;
  std::byte* at_ = first_;
};

// Runs and counts; a block that was zeroed instead makes it fail, since that would be memgraft_zero's speed.
void measure(benchmark::State& state, const Way& way, std::size_t bytes, bool same_block, Use use) {
  Blocks blocks(bytes, way.variant);
  const bool all_used = use != nullptr || way.variant == MEMGRAFT_DISCLAIM_POPULATE;
  std::byte* block = blocks.next(state, true);
  while (state.KeepRunning()) {
    const memgraft_disclaimed done = memgraft_disclaim(block, bytes, way.variant);
    if (done.error != 0) {
      state.SkipWithError(std::strerror(done.error));
      return;
    }
    if (use != nullptr) {
      use(block, bytes);
    }
    if (!same_block) {
      block = blocks.next(state, all_used);
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void add(const Way& way, const char* mode, std::span<const std::size_t> sizes, bool same_block, Use use) {
  for (const std::size_t bytes : sizes) {
    if (bytes >= way.least_bytes) {
      const std::string name = std::string("zero/") + way.name + "/" + mode + "/" + std::to_string(bytes);
      benchmark::RegisterBenchmark(name.c_str(), [way, bytes, same_block, use](benchmark::State& state) {
        measure(state, way, bytes, same_block, use);
      });
    }
  }
}

}  // namespace

void add_disclaims(std::span<const std::size_t> sizes, std::span<const std::size_t> used_sizes, Use use) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::array ways = {
      Way{.name = "disclaim", .variant = MEMGRAFT_DISCLAIM_PLAIN, .least_bytes = page},
      Way{.name = "disclaim-populate", .variant = MEMGRAFT_DISCLAIM_POPULATE, .least_bytes = page},
      Way{.name = "disclaim-huge", .variant = MEMGRAFT_DISCLAIM_HUGE, .least_bytes = kHugePage},
  };
  for (const Way& way : ways) {
    // The same block again has no pages that could be given back, unless it was populated.
    if (way.variant == MEMGRAFT_DISCLAIM_POPULATE) {
      add(way, "resident", sizes, true, nullptr);
    }
    add(way, "streaming", sizes, false, nullptr);
    add(way, "streaming-used", used_sizes, false, use);
  }
}

}  // namespace memgraft::zeroing::bench
