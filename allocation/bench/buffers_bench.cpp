// What the heap's pointer and the buffers before it cost here: what a model of many cores is fed with
// (docs/buffers.md, "Scaling").
//
//   swap/alone                one thread moves a pointer on by compare-and-swap
//   swap/handover-core        two threads, on CPUs of two cores of one processor, swap in turn: what a swap
//                             costs when another core had the line. The time is that of one swap.
//   swap/handover-processor   the same on two processors
//   swap/contended/N          N threads, each on a CPU of its own, swap as often as they can
//   take/atomic               memory taken from a buffer: by compare-and-swap, by one thread
//   take/restartable          the same in a restartable sequence
//   take/contended/N          by N threads from one buffer
//   refill/atomic, refill/restartable   each request refills its buffer first, from a heap that costs nothing
//
// Names are buffers/<what>; real_time is nanoseconds of one operation, of all threads together where there are
// several. What this machine has no CPUs for is left out. All options are Google Benchmark's.
#include <benchmark/benchmark.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memgraft/allocation/hierarchy.h"

namespace memgraft::allocation::bench {
namespace {

constexpr std::uint64_t kTlabWords = 2048;
constexpr std::uint64_t kBufferWords = std::uint64_t{1} << 31;
constexpr double kNanosecondsPerSecond = 1e9;

std::vector<unsigned> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<unsigned> cpus;
  // Fails where there are more CPUs than a cpu_set_t has room for, which is 1024.
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) {
        cpus.push_back(cpu);
      }
    }
  }
  return cpus;
}

// Keeps the calling thread on one CPU. Google Benchmark's first thread is the program's own, which must be
// free again afterwards.
class OnCpu {
 public:
  explicit OnCpu(unsigned cpu) {
    CPU_ZERO(&before_);
    (void)sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
  }
  ~OnCpu() { (void)sched_setaffinity(0, sizeof before_, &before_); }
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;

 private:
  cpu_set_t before_{};
};

// Two lines because of the adjacent-line prefetcher (Intel Optimization Reference Manual, section 2.5.5.4).
struct alignas(128) Pointer {
  std::atomic<std::uint64_t> top{0};
};
Pointer the_pointer;

// As a heap hands memory out: look, then swap, and again if somebody else was first.
std::uint64_t move_on(std::atomic<std::uint64_t>& top) {
  std::uint64_t lost = 0;
  std::uint64_t seen = top.load(std::memory_order_relaxed);
  while (!top.compare_exchange_strong(seen, seen + kTlabWords, std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
    ++lost;
  }
  return lost;
}

void swap_alone(benchmark::State& state, unsigned cpu) {
  const OnCpu pinned(cpu);
  for ([[maybe_unused]] auto turn : state) {
    benchmark::DoNotOptimize(move_on(the_pointer.top));
  }
}

// Both threads together make twice as many swaps as each has turns.
void hand_over(benchmark::State& state, std::array<unsigned, 2> cpus) {
  const auto me = static_cast<std::uint64_t>(state.thread_index());
  const OnCpu pinned(cpus.at(me));
  if (me == 0) {
    the_pointer.top.store(0, std::memory_order_relaxed);
  }
  for ([[maybe_unused]] auto turn : state) {
    std::uint64_t seen = the_pointer.top.load(std::memory_order_relaxed);
    while (seen % 2 != me || !the_pointer.top.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel,
                                                                    std::memory_order_relaxed)) {
      seen = the_pointer.top.load(std::memory_order_relaxed);
    }
  }
}

void swap_contended(benchmark::State& state, const std::vector<unsigned>& cpus) {
  const OnCpu pinned(cpus.at(static_cast<std::size_t>(state.thread_index())));
  std::uint64_t lost = 0;
  for ([[maybe_unused]] auto turn : state) {
    lost += move_on(the_pointer.top);
  }
  state.counters["lost"] = benchmark::Counter(static_cast<double>(lost), benchmark::Counter::kAvgIterations);
}

// Never written to: buffers hand addresses out and do not look behind them.
std::byte* endless(void* /*context*/, std::uint64_t /*words*/) {
  static std::byte start{};
  return &start;
}
void forget(Rest /*rest*/) {}

void take(benchmark::State& state, Hierarchy& buffers, const std::vector<unsigned>& cpus) {
  const OnCpu pinned(cpus.at(static_cast<std::size_t>(state.thread_index())));
  for ([[maybe_unused]] auto turn : state) {
    benchmark::DoNotOptimize(buffers.take(kTlabWords, kTlabWords, nullptr));
  }
}

// Never destroyed: benchmarks run after their registration, and threads count in them until they end.
Hierarchy& buffers_of(Kind kind, std::uint64_t words, bool restartable) {
  return *new Hierarchy({{.kind = kind, .words = words}}, Topology::of_system(),
                        {.allocate = endless, .discard = forget}, restartable);
}

std::string name(const char* what) { return std::string("buffers/") + what; }

// One CPU of each of two cores, or of two processors; nullopt where there are none.
std::optional<std::array<unsigned, 2>> two_of(Kind kind, const std::vector<unsigned>& cpus) {
  const Topology topology = Topology::of_system();
  for (const unsigned other : cpus) {
    const bool apart = topology.index_of(kind, cpus.front()) != topology.index_of(kind, other);
    const bool together = kind == Kind::processor || topology.index_of(Kind::processor, cpus.front()) ==
                                                         topology.index_of(Kind::processor, other);
    if (apart && together) {
      return std::array{cpus.front(), other};
    }
  }
  return std::nullopt;
}

std::vector<int> thread_counts(std::size_t cpus) {
  std::vector<int> counts;
  for (std::size_t threads = 2; threads < cpus; threads *= 2) {
    counts.push_back(static_cast<int>(threads));
  }
  if (cpus > 1) {
    counts.push_back(static_cast<int>(cpus));
  }
  return counts;
}

void add_all(const std::vector<unsigned>& cpus) {
  const bool restartable = can_replace_on_cpu();
  benchmark::RegisterBenchmark(name("swap/alone").c_str(), swap_alone, cpus.front())->UseRealTime();
  for (const auto& [kind, what] : {std::pair(Kind::core, "swap/handover-core"),
                                   std::pair(Kind::processor, "swap/handover-processor")}) {
    if (const auto two = two_of(kind, cpus)) {
      benchmark::RegisterBenchmark(name(what).c_str(), hand_over, *two)->Threads(2)->UseRealTime();
    }
  }
  benchmark::RegisterBenchmark(name("take/atomic").c_str(), take,
                               std::ref(buffers_of(Kind::cpu, kBufferWords, false)), cpus)
      ->UseRealTime();
  benchmark::RegisterBenchmark(name("refill/atomic").c_str(), take,
                               std::ref(buffers_of(Kind::cpu, kTlabWords, false)), cpus)
      ->UseRealTime();
  if (restartable) {
    benchmark::RegisterBenchmark(name("take/restartable").c_str(), take,
                                 std::ref(buffers_of(Kind::cpu, kBufferWords, true)), cpus)
        ->UseRealTime();
    benchmark::RegisterBenchmark(name("refill/restartable").c_str(), take,
                                 std::ref(buffers_of(Kind::cpu, kTlabWords, true)), cpus)
        ->UseRealTime();
  }
  for (const int threads : thread_counts(cpus.size())) {
    const std::string count = "/" + std::to_string(threads);
    benchmark::RegisterBenchmark((name("swap/contended") + count).c_str(), swap_contended, cpus)
        ->Threads(threads)
        ->UseRealTime();
    benchmark::RegisterBenchmark((name("take/contended") + count).c_str(), take,
                                 std::ref(buffers_of(Kind::node, kBufferWords, false)), cpus)
        ->Threads(threads)
        ->UseRealTime();
  }
}

}  // namespace
}  // namespace memgraft::allocation::bench

int main(int argc, char** argv) {
  using namespace memgraft::allocation;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  const std::vector<unsigned> cpus = bench::usable_cpus();
  const Topology topology = Topology::of_system();
  for (std::size_t kind = 0; kind < kKindNames.size(); ++kind) {
    benchmark::AddCustomContext(std::string(kKindNames.at(kind)) + "s",
                                std::to_string(topology.count(static_cast<Kind>(kind))));
  }
  bench::add_all(cpus.empty() ? std::vector{0U} : cpus);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
