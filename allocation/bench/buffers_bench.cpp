// What the heap's pointer and the buffers before it cost here: what a model of many cores is fed with
// (docs/buffers.md, "Scaling").
//
//   swap/alone                one thread moves a pointer on by compare-and-swap
//   swap/handover-core        two threads, on CPUs of two cores of one processor, swap in turn: what a swap
//                             costs when another core had the line. The time is that of one swap.
//   swap/handover-processor   the same on two processors
//   swap/contended/N          N threads, each on a CPU of its own, swap as often as they can
//   think/alone               some work of one thread that nobody disturbs, as between two requests
//   think/swapping/N          N threads, each of which works so and then swaps: what the model can be held to
//   take/atomic               memory taken from a buffer: by compare-and-swap, by one thread
//   take/restartable          the same in a restartable sequence
//   take/contended/N          by N threads from one buffer
//   refill/atomic, refill/restartable   each request refills its buffer first, from a heap that costs nothing
//
// Names are buffers/<what>. The counter `nanoseconds` is the time of one operation, of all threads together
// where there are several. Of one thread, and of two that take turns, it is the median of batches: where a
// thread is put aside for milliseconds, a mean would be that of the scheduler. Of threads that contend it is
// the mean, because a core keeps a line for a while before another gets it. What this machine has no CPUs for
// is left out. All options are Google Benchmark's.
#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "memgraft/allocation/hierarchy.h"
#include "memgraft/units.h"

namespace memgraft::allocation::bench {
namespace {

constexpr Words kTlabWords = 2048_words;
constexpr Words kBufferWords = Words(std::uint64_t{1} << 31U);
constexpr int kBatch = 1000;
// Of 64 random bits: 0 to 255 steps.
constexpr unsigned kThinkShift = 56;

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
  OnCpu(OnCpu&&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;
  OnCpu& operator=(OnCpu&&) = delete;

 private:
  cpu_set_t before_{};
};

// Two lines because of the adjacent-line prefetcher (Intel Optimization Reference Manual, section 2.5.5.4).
struct alignas(128) Pointer {
  std::atomic<std::uint64_t> top{0};
};
Pointer the_pointer;

// As a heap hands memory out: look, then swap, and again if somebody else was first. Returns where it was.
std::uint64_t move_on(std::atomic<std::uint64_t>& top, Words words) {
  std::uint64_t seen = top.load(std::memory_order_relaxed);
  while (!top.compare_exchange_strong(seen, seen + words.count(), std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
  }
  return seen;
}

enum class Average : std::uint8_t { median, mean };

double average(Average kind, std::vector<double>& values) {
  if (kind == Average::mean) {
    return std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Batch after batch of an operation, by as many threads as `state` says, each on a CPU of its own. Where
// `progress` is given, which each operation of every thread moves on by kTlabWords, only those batches count
// in which all threads took part; if there is none, all.
template <typename Operation>
void measure(benchmark::State& state, const std::vector<unsigned>& cpus, Average of_batches,
             Operation operation, const std::atomic<std::uint64_t>* progress = nullptr) {
  using Clock = std::chrono::steady_clock;
  const OnCpu pinned(cpus.at(static_cast<std::size_t>(state.thread_index())));
  const std::uint64_t together = (kTlabWords * kBatch * static_cast<std::uint64_t>(state.threads())).count();
  const auto moved = [&] { return progress != nullptr ? progress->load(std::memory_order_relaxed) : 0; };
  std::vector<double> shared;
  std::vector<double> others;
  for ([[maybe_unused]] const auto turn : state) {
    const std::uint64_t before = moved();
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kBatch; ++i) {
      operation();
    }
    const double time = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    (progress == nullptr || moved() - before >= together / 4 * 3 ? shared : others).push_back(time);
  }
  const double batch = average(of_batches, shared.empty() ? others : shared);
  state.counters["nanoseconds"] =
      benchmark::Counter(batch / kBatch / state.threads(), benchmark::Counter::kAvgThreads);
}

Average contending(const benchmark::State& state) {
  return state.threads() > 1 ? Average::mean : Average::median;
}

void swap(benchmark::State& state, const std::vector<unsigned>& cpus) {
  measure(state, cpus, contending(state),
          [] { benchmark::DoNotOptimize(move_on(the_pointer.top, kTlabWords)); });
}

void hand_over(benchmark::State& state, const std::vector<unsigned>& cpus) {
  const auto me = static_cast<std::uint64_t>(state.thread_index());
  if (me == 0) {
    the_pointer.top.store(0, std::memory_order_relaxed);
  }
  measure(state, cpus, Average::median, [me] {
    std::uint64_t seen = the_pointer.top.load(std::memory_order_relaxed);
    while (seen % 2 != me || !the_pointer.top.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel,
                                                                    std::memory_order_relaxed)) {
      seen = the_pointer.top.load(std::memory_order_relaxed);
    }
  });
}

// Each step waits for the one before (Knuth's multiplier, The Art of Computer Programming 2, section 3.3.4),
// and how many there are is random: two threads must not fall into step.
std::uint64_t think(std::uint64_t from) {
  const std::uint64_t steps = from >> kThinkShift;
  for (std::uint64_t step = 0; step < steps; ++step) {
    from = from * 6364136223846793005U + 1;
    benchmark::DoNotOptimize(from);
  }
  return from * 6364136223846793005U + 1;
}

void think_alone(benchmark::State& state, const std::vector<unsigned>& cpus) {
  measure(state, cpus, Average::median, [thought = std::uint64_t{1}]() mutable { thought = think(thought); });
}

// The work waits for the swap and the swap for the work, as with memory that is handed out and used: else the
// CPU would do both at once.
void think_and_swap(benchmark::State& state, const std::vector<unsigned>& cpus) {
  measure(
      state, cpus, Average::median,
      [thought = std::uint64_t{1}]() mutable {
        thought = think(thought + move_on(the_pointer.top, kTlabWords + Words(thought >> 63U)));
      },
      &the_pointer.top);
}

// Never written to: buffers hand addresses out and do not look behind them.
std::byte* endless(void* /*context*/, Words /*words*/, std::size_t /*node*/) {
  static std::byte start{};
  return &start;
}
void forget(Rest /*rest*/) {}

void take(benchmark::State& state, Hierarchy& buffers, const std::vector<unsigned>& cpus) {
  measure(state, cpus, contending(state),
          [&buffers] { benchmark::DoNotOptimize(buffers.take(kTlabWords, kTlabWords, nullptr)); });
}

// Never destroyed: benchmarks run after their registration, and threads count in them until they end.
Hierarchy& buffers_of(const Topology& topology, Words words, bool restartable) {
  static auto& all = *new std::vector<std::unique_ptr<Hierarchy>>;
  all.push_back(std::make_unique<Hierarchy>(std::vector<Level>{{.kind = Kind::cpu, .words = words}}, topology,
                                            Heap{.allocate = endless, .discard = forget}, restartable));
  return *all.back();
}

// A system that tells nothing is taken for one CPU: all threads share its buffer.
Topology one_for_all() { return Topology::of_system("/dev/null"); }

// One CPU of each of two cores of a processor, or of two processors; empty where there are none.
std::vector<unsigned> two_of(Kind kind, const Topology& topology, const std::vector<unsigned>& cpus) {
  const unsigned one = cpus.front();
  const auto same = [&](Kind of, unsigned other) {
    return topology.index_of(of, one) == topology.index_of(of, other);
  };
  for (const unsigned other : cpus) {
    if (!same(kind, other) && (kind == Kind::processor || same(Kind::processor, other))) {
      return {one, other};
    }
  }
  return {};
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

void add_all(const Topology& topology, const std::vector<unsigned>& cpus) {
  const auto add = [](const std::string& what, int threads, auto run, const auto&... with) {
    benchmark::RegisterBenchmark(("buffers/" + what).c_str(), run, with...)->Threads(threads)->UseRealTime();
  };
  add("swap/alone", 1, swap, cpus);
  for (const auto& [kind, what] :
       {std::pair(Kind::core, "swap/handover-core"), std::pair(Kind::processor, "swap/handover-processor")}) {
    if (const auto two = two_of(kind, topology, cpus); !two.empty()) {
      add(what, 2, hand_over, two);
    }
  }
  add("think/alone", 1, think_alone, cpus);
  for (const bool restartable : {false, true}) {
    if (restartable && !can_replace_on_cpu()) {
      continue;
    }
    const std::string how = restartable ? "restartable" : "atomic";
    add("take/" + how, 1, take, std::ref(buffers_of(topology, kBufferWords, restartable)), cpus);
    add("refill/" + how, 1, take, std::ref(buffers_of(topology, kTlabWords, restartable)), cpus);
  }
  for (const int threads : thread_counts(cpus.size())) {
    const std::string count = std::to_string(threads);
    add("swap/contended/" + count, threads, swap, cpus);
    add("think/swapping/" + count, threads, think_and_swap, cpus);
    add("take/contended/" + count, threads, take, std::ref(buffers_of(one_for_all(), kBufferWords, false)),
        cpus);
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
  bench::add_all(topology, cpus.empty() ? std::vector{0U} : cpus);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
