// How fast each kernel zeroes here: every available kernel x size of block x mode.
//
//   resident        the same block again and again: it stays in whatever cache it fits into
//   streaming       one block after another through a region larger than the caches, as a nursery is consumed
//   streaming-used  streaming, and each block is at once written 8 bytes at a time and read back, as a
//                   program uses what it allocates; the time includes that use
//
// Disclaim (memgraft/disclaim.h) is measured as if it were kernels: disclaim_bench.cpp.
//
// Names are zero/<kernel>/<mode>/<bytes>; bytes_per_second is bytes zeroed per CPU second of this thread.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>

#include "disclaim_bench.h"
#include "memgraft/zeroing.h"
#include "region.h"

namespace memgraft::zeroing::bench {
namespace {

constexpr std::size_t KiB = std::size_t{1} << 10;
constexpr std::size_t MiB = std::size_t{1} << 20;

constexpr std::array block_sizes = {
    std::size_t{64}, std::size_t{256}, KiB, 4 * KiB, 32 * KiB, 256 * KiB, MiB, 4 * MiB, 16 * MiB, 64 * MiB};
constexpr std::array used_block_sizes = {32 * KiB, MiB, 4 * MiB};

/// The block that stays: apart from the streamed region, of which it would otherwise cache a part.
std::byte* resident_block() {
  static const Region region(block_sizes.back());
  return region.memory().data();
}

/// Hands out one block after another and starts again at the end of the region. Kept from one benchmark to
/// the next: starting afresh would find in the cache what a slow benchmark had just zeroed there.
class Stream {
 public:
  explicit Stream(std::size_t bytes) : region_(bytes) {}

  std::byte* next(std::size_t bytes) {
    const std::span<std::byte> all = region_.memory();
    if (bytes > all.size() - used_) {
      used_ = 0;
    }
    std::byte* block = all.data() + used_;
    used_ += bytes;
    return block;
  }

 private:
  Region region_;
  std::size_t used_ = 0;
};

const StreamSize& the_stream_size() {
  static const StreamSize size = stream_size();
  return size;
}

/// Allocated at the first use. Null, and the benchmark marked as failed, where not even one block fits.
Stream* stream_for(std::size_t bytes, benchmark::State& state) {
  if (bytes > the_stream_size().bytes) {
    state.SkipWithError(the_stream_size().reason.c_str());
    return nullptr;
  }
  static Stream stream(the_stream_size().bytes);
  return &stream;
}

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void resident(benchmark::State& state, const memgraft_zero_kernel& kernel, std::size_t bytes) {
  std::byte* block = resident_block();
  memgraft_zero(block, bytes);  // brings it into the cache
  while (state.KeepRunning()) {
    kernel.zero(block, bytes);
  }
  count_bytes(state, bytes);
}

void streaming(benchmark::State& state, const memgraft_zero_kernel& kernel, std::size_t bytes) {
  Stream* stream = stream_for(bytes, state);
  if (stream == nullptr) {
    return;
  }
  while (state.KeepRunning()) {
    kernel.zero(stream->next(bytes), bytes);
  }
  count_bytes(state, bytes);
}

/// Writes all of the block and reads it back, 8 bytes at a time: volatile, so that it stays so.
void use(std::byte* block, std::size_t bytes) {
  const std::span<volatile std::uint64_t> words(reinterpret_cast<std::uint64_t*>(block),
                                                bytes / sizeof(std::uint64_t));
  std::uint64_t value = 0;
  for (volatile std::uint64_t& word : words) {
    word = ++value;
  }
  for (const volatile std::uint64_t& word : words) {
    value += word;
  }
  benchmark::DoNotOptimize(value);
}

void streaming_used(benchmark::State& state, const memgraft_zero_kernel& kernel, std::size_t bytes) {
  Stream* stream = stream_for(bytes, state);
  if (stream == nullptr) {
    return;
  }
  while (state.KeepRunning()) {
    std::byte* block = stream->next(bytes);
    kernel.zero(block, bytes);
    use(block, bytes);
  }
  count_bytes(state, bytes);
}

using Mode = void (*)(benchmark::State&, const memgraft_zero_kernel&, std::size_t);

void add(const memgraft_zero_kernel& kernel, const char* mode_name, Mode mode,
         std::span<const std::size_t> sizes) {
  for (const std::size_t bytes : sizes) {
    const std::string name =
        std::string("zero/") + kernel.name + "/" + mode_name + "/" + std::to_string(bytes);
    benchmark::RegisterBenchmark(
        name.c_str(), [&kernel, mode, bytes](benchmark::State& state) { mode(state, kernel, bytes); });
  }
}

void add_all() {
  std::size_t count = 0;
  const memgraft_zero_kernel* kernels = memgraft_zero_kernels(&count);
  for (const memgraft_zero_kernel& kernel : std::span(kernels, count)) {
    if (!kernel.available) {
      std::cerr << "memgraft-zero-bench: " << kernel.name << " is left out, this CPU cannot run it ("
                << kernel.description << ")\n";
      continue;
    }
    add(kernel, "resident", resident, block_sizes);
    add(kernel, "streaming", streaming, block_sizes);
    add(kernel, "streaming-used", streaming_used, used_block_sizes);
  }
  add_disclaims(block_sizes, used_block_sizes, use);
}

void describe_the_run() {
  const memgraft_zero_kernel* non_temporal = memgraft_zero_chosen(MEMGRAFT_ZERO_NON_TEMPORAL);
  benchmark::AddCustomContext("chosen_ordinary", memgraft_zero_chosen(MEMGRAFT_ZERO_ORDINARY)->name);
  benchmark::AddCustomContext("chosen_non_temporal", non_temporal != nullptr ? non_temporal->name : "none");
  benchmark::AddCustomContext("streamed_bytes", std::to_string(the_stream_size().bytes));
  benchmark::AddCustomContext("transparent_huge_pages", transparent_huge_pages());
  if (!the_stream_size().reason.empty()) {
    std::cerr << "memgraft-zero-bench: " << the_stream_size().reason << '\n';
  }
}

}  // namespace
}  // namespace memgraft::zeroing::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  memgraft::zeroing::bench::describe_the_run();
  memgraft::zeroing::bench::add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
