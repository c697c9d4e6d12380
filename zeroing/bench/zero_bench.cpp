// How fast each kernel zeroes here: every available kernel x size of block x mode x number of threads.
//
//   resident        the same block again and again: it stays in whatever cache it fits into
//   streaming       one block after another through a region larger than the caches, as a nursery is consumed
//   streaming-late  streaming, and each block is written 8 bytes at a time and read back when so much else
//                   has been zeroed that it is no longer in the L2 cache; the time includes that use
//   streaming-used  streaming, and each block is so used at once
//
// With 1 thread, and with as many as there are CPUs for this process, each on memory of its own. `calibrated`
// is no kernel but the one that memgraft_zero_best names for that mode, size and number of threads: by the
// table of --memgraft_table=PATH where that is given, else by the defaults.
//
// Disclaim (memgraft/disclaim.h) is measured as if it were kernels, with 1 thread: disclaim_bench.cpp.
//
// Names are zero/<kernel>/<mode>/<bytes>, with /threads:<count> behind them where there are several;
// bytes_per_second is bytes zeroed per CPU second of a thread. zero/lookup is memgraft_zero_best itself.
// --memgraft_largest=BYTES leaves out larger blocks. All other options are Google Benchmark's.
#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "disclaim_bench.h"
#include "memgraft/zeroing.h"
#include "region.h"
#include "stream.h"

namespace memgraft::zeroing::bench {
namespace {

constexpr std::size_t kKiB = std::size_t{1} << 10;
constexpr std::size_t kMiB = std::size_t{1} << 20;

// 2 KiB is where Cavanna 2006 divides small regions from large ones.
constexpr std::array kBlockSizes = {std::size_t{64}, std::size_t{256}, kKiB,       2 * kKiB,
                                    4 * kKiB,        32 * kKiB,        256 * kKiB, kMiB,
                                    4 * kMiB,        16 * kMiB,        64 * kMiB};

unsigned usable_cpus() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  // Fails where there are more CPUs than a cpu_set_t has room for, which is 1024.
  return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? static_cast<unsigned>(CPU_COUNT(&cpus)) : 1;
}

const StreamSize& the_stream_size() {
  static const StreamSize size = stream_size();
  return size;
}

// The blocks that stay, one per thread: apart from the streamed region, of which they would otherwise cache
// a part. Null, and the benchmark marked as failed, where not every thread can have one.
std::byte* resident_block(std::size_t bytes, benchmark::State& state) {
  static const std::size_t room = std::min(usable_cpus() * kBlockSizes.back(), the_stream_size().bytes);
  static const Region region(room);
  if (bytes > room / static_cast<std::size_t>(state.threads())) {
    state.SkipWithError("too little memory for so many threads and blocks so large");
    return nullptr;
  }
  const std::size_t distance = room / static_cast<std::size_t>(state.threads());
  return region.memory().data() + static_cast<std::size_t>(state.thread_index()) * distance;
}

// Allocated at the first use. Null, and the benchmark marked as failed, where there is no room for every
// thread to have a piece in hand, one that waits for its late use, and one to go on to.
Stream* stream_for(std::size_t bytes, benchmark::State& state) {
  const std::size_t needed = 2 * Walk::piece_for(bytes) + late_distance();
  if (needed > the_stream_size().bytes / static_cast<std::size_t>(state.threads())) {
    state.SkipWithError("the streamed region is too small for so many threads and blocks so large");
    return nullptr;
  }
  static Stream stream(the_stream_size().bytes);
  return &stream;
}

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void resident(benchmark::State& state, const memgraft_zero_kernel& kernel, std::size_t bytes) {
  std::byte* block = resident_block(bytes, state);
  if (block == nullptr) {
    return;
  }
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
  Walk walk(*stream, bytes, false);
  while (state.KeepRunning()) {
    kernel.zero(walk.next(), bytes);
  }
  count_bytes(state, bytes);
}

// Writes all of the block and reads it back, 8 bytes at a time: volatile, so that it stays so.
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

void streaming_late(benchmark::State& state, const memgraft_zero_kernel& kernel, std::size_t bytes) {
  Stream* stream = stream_for(bytes, state);
  if (stream == nullptr) {
    return;
  }
  Walk walk(*stream, bytes, true);
  for (std::size_t zeroed = 0; zeroed < late_distance(); zeroed += bytes) {
    kernel.zero(walk.next(), bytes);
  }
  while (state.KeepRunning()) {
    kernel.zero(walk.next(), bytes);
    use(walk.late(), bytes);
  }
  count_bytes(state, bytes);
}

void streaming_used(benchmark::State& state, const memgraft_zero_kernel& kernel, std::size_t bytes) {
  Stream* stream = stream_for(bytes, state);
  if (stream == nullptr) {
    return;
  }
  Walk walk(*stream, bytes, false);
  while (state.KeepRunning()) {
    std::byte* block = walk.next();
    kernel.zero(block, bytes);
    use(block, bytes);
  }
  count_bytes(state, bytes);
}

struct Mode {
  const char* name;
  memgraft_zero_use use;
  void (*run)(benchmark::State&, const memgraft_zero_kernel&, std::size_t);
};

constexpr std::array kModes = {
    Mode{"resident", MEMGRAFT_ZERO_RESIDENT, resident},
    Mode{"streaming", MEMGRAFT_ZERO_NOT_USED, streaming},
    Mode{"streaming-late", MEMGRAFT_ZERO_USED_LATE, streaming_late},
    Mode{"streaming-used", MEMGRAFT_ZERO_USED_SOON, streaming_used},
};

// The benchmarks of one kernel; null stands for the calibrated choice.
void add(const memgraft_zero_kernel* kernel, std::size_t largest, unsigned threads) {
  for (const Mode& mode : kModes) {
    for (const std::size_t bytes : kBlockSizes) {
      if (bytes > largest) {
        continue;
      }
      const std::string name = std::string("zero/") + (kernel != nullptr ? kernel->name : "calibrated") +
                               "/" + mode.name + "/" + std::to_string(bytes);
      const memgraft_zero_kernel& runs =
          kernel != nullptr ? *kernel : *memgraft_zero_best(mode.use, bytes, threads);
      const char* label = kernel != nullptr ? "" : runs.name;
      benchmark::internal::Benchmark* added =
          benchmark::RegisterBenchmark(name.c_str(), [&runs, &mode, bytes, label](benchmark::State& state) {
            mode.run(state, runs, bytes);
            state.SetLabel(label);
          });
      if (threads > 1) {
        added->Threads(static_cast<int>(threads));
      }
    }
  }
}

// What asking costs, which every call of a kernel pays that does not keep the answer.
void lookup(benchmark::State& state) {
  std::size_t bytes = 64;
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(bytes);
    benchmark::DoNotOptimize(memgraft_zero_best(MEMGRAFT_ZERO_RESIDENT, bytes, 1));
  }
}

void add_all(std::size_t largest) {
  std::vector<const memgraft_zero_kernel*> measured{nullptr};
  std::size_t count = 0;
  const memgraft_zero_kernel* kernels = memgraft_zero_kernels(&count);
  for (const memgraft_zero_kernel& kernel : std::span(kernels, count)) {
    if (kernel.available) {
      measured.push_back(&kernel);
    } else {
      std::cerr << "memgraft-zero-bench: " << kernel.name << " is left out, this CPU cannot run it ("
                << kernel.description << ")\n";
    }
  }
  for (const memgraft_zero_kernel* kernel : measured) {
    add(kernel, largest, 1);
    if (usable_cpus() > 1) {
      add(kernel, largest, usable_cpus());
    }
  }
  std::vector<std::size_t> sizes(kBlockSizes.begin(), kBlockSizes.end());
  std::erase_if(sizes, [&](std::size_t bytes) { return bytes > largest; });
  add_disclaims(sizes, sizes, use);
  benchmark::RegisterBenchmark("zero/lookup", lookup);
}

void describe_the_run() {
  const memgraft_zero_kernel* non_temporal = memgraft_zero_chosen(MEMGRAFT_ZERO_NON_TEMPORAL);
  const char* table = memgraft_zero_table();
  benchmark::AddCustomContext("cpu", memgraft_zero_cpu());
  benchmark::AddCustomContext("table", table != nullptr ? table : "");
  benchmark::AddCustomContext("chosen_ordinary", memgraft_zero_chosen(MEMGRAFT_ZERO_ORDINARY)->name);
  benchmark::AddCustomContext("chosen_non_temporal", non_temporal != nullptr ? non_temporal->name : "none");
  benchmark::AddCustomContext("streamed_bytes", std::to_string(the_stream_size().bytes));
  benchmark::AddCustomContext("late_bytes", std::to_string(late_distance()));
  benchmark::AddCustomContext("transparent_huge_pages", transparent_huge_pages());
  if (!the_stream_size().reason.empty()) {
    std::cerr << "memgraft-zero-bench: " << the_stream_size().reason << '\n';
  }
}

// Memgraft's own options, taken out of the arguments before Google Benchmark reads the rest.
struct Options {
  std::string table;
  std::size_t largest = std::numeric_limits<std::size_t>::max();
};

// The value of `argument` where it begins with `option`; else null.
const char* value_of(std::string_view option, const char* argument) {
  return std::string_view(argument).starts_with(option) ? argument + option.size() : nullptr;
}

// False, and a message, where an option's value is none.
bool take_options(int& argc, char** argv, Options& options) {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  const auto own = [&](const char* argument) {
    if (const char* table = value_of("--memgraft_table=", argument)) {
      options.table = table;
    } else if (const char* largest = value_of("--memgraft_largest=", argument)) {
      const std::string_view text = largest;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), options.largest);
      if (read.ec != std::errc{} || read.ptr != text.data() + text.size() ||
          options.largest < kBlockSizes.front()) {
        options.largest = 0;
        std::cerr << "memgraft-zero-bench: --memgraft_largest=" << text << ": expected bytes, "
                  << kBlockSizes.front() << " or more\n";
      }
    } else {
      return false;
    }
    return true;
  };
  const auto rest = std::remove_if(arguments.begin() + 1, arguments.end(), own);
  argc = static_cast<int>(rest - arguments.begin());
  argv[argc] = nullptr;
  return options.largest > 0;
}

bool load_table(const std::string& path) {
  std::array<char, 1024> error{};
  if (path.empty() || memgraft_zero_load_table(path.c_str(), error.data(), error.size())) {
    return true;
  }
  std::cerr << "memgraft-zero-bench: " << error.data() << '\n';
  return false;
}

}  // namespace
}  // namespace memgraft::zeroing::bench

int main(int argc, char** argv) {
  using namespace memgraft::zeroing::bench;
  Options options;
  if (!take_options(argc, argv, options)) {
    return 2;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  if (!load_table(options.table)) {
    return 3;
  }
  describe_the_run();
  add_all(options.largest);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
