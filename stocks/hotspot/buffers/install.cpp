#include "buffers/install.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string>

#include "buffers/needs.h"
#include "buffers/numa_eden.h"
#include "clocks/clocks.h"
#include "join/heap_methods.h"
#include "join/refusal.h"
#include "join/vm_structs.h"
#include "zeroing/beneath.h"

// Every TLAB comes from the virtual CollectedHeap::allocate_new_tlab(min, requested, &actual). The
// replacement takes it from a buffer, and calls the original for a buffer's next filling, or where no buffer
// has enough. In a JVM without TLABs, CollectedHeap::mem_allocate(words) is asked for every object; then that
// is what takes from a buffer.
//
// Before a collection, and before the heap is walked, what the buffers still hold is filled, and they are
// empty. Walks call ensure_parsability. So do collections, but for G1's young ones since JDK 18, of which JVM
// TI tells; and it does not tell of all (not of the one for a live heap dump), so both are listened to.
//
// A safepoint can also come inside the original allocate_new_tlab (G1, and every collector of JDK 25): the
// thread that waits there has filled its buffer's rest before, and the buffer, which is being refilled, is
// left alone (allocation/buffer.h).

namespace memgraft::hotspot {

namespace {

// What automatic sizes begin with: 64 KiB, 1 MiB, 16 MiB. No TLAB is made smaller than 4 KiB, a page.
constexpr Words kFirstTlabWords = 8'192_words;
constexpr Words kLeastTlabWords = 512_words;
constexpr Words kFirstBufferWords = 131'072_words;
constexpr std::uint64_t kPerProcessor = 16;

// Counts of times, in classes an eighth of a power of two wide.
class Histogram {
 public:
  void add(std::uint64_t cycles) { classes_.at(class_of(cycles)).add(1); }
  void add_to(std::array<std::uint64_t, 512>& sum) const {
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      sum.at(i) += classes_.at(i).value();
    }
  }
  // The middle of a class.
  static double cycles_of(std::size_t at) {
    if (at < kPerPower) {
      return static_cast<double>(at);
    }
    const std::size_t power = at / kPerPower - 1;
    const auto part = static_cast<double>(at % kPerPower) + 0.5;
    return static_cast<double>(std::uint64_t{1} << power) * (kPerPower + part);
  }

 private:
  static constexpr std::size_t kPerPower = 8;
  static std::size_t class_of(std::uint64_t cycles) {
    if (cycles < kPerPower) {
      return cycles;
    }
    const auto power = static_cast<std::size_t>(std::bit_width(cycles)) - std::bit_width(kPerPower);
    return (power + 1) * kPerPower + ((cycles >> power) - kPerPower);
  }
  std::array<allocation::Count, 512> classes_;
};

struct Times {
  std::array<Histogram, allocation::Hierarchy::kMostLevels> levels;
  Histogram refills;
  Histogram heap;
  allocation::Count requests;
  allocation::Count heap_words;
};

struct Buffers {
  AllocateNewTlab allocate_new_tlab = nullptr;
  MemAllocate mem_allocate = nullptr;  // null but where objects are handed out
  EnsureParsability ensure_parsability = nullptr;
  FillWithObjects fill = nullptr;
  bool zeroing = false;
  // G1's regions cannot hold a TLAB larger than half of them; how large they are, it settles after the agent
  // was loaded. Null with other collectors.
  const std::size_t* region_bytes = nullptr;
  bool region_was_given = false;   // by the user
  std::vector<Words> asked_words;  // by level
  LateRefusal refuse = nullptr;
  allocation::Hierarchy* hierarchy = nullptr;  // never destroyed: threads may allocate until the process ends
  allocation::PerThread<Times>* times = nullptr;
  allocation::AutoSize* sizes = nullptr;  // null where sizes were given
  NumaEden* numa = nullptr;               // null where nothing is bound
  bool zero_at_refill = false;
  bool node_level_added = false;
  std::atomic<bool> region_checked{false};
  std::atomic<std::uint64_t> collections{0};
  CycleRate cycle_rate;
  std::uint64_t clock_cycles = 0;  // of its two readings themselves
};

constinit Buffers* the_buffers = nullptr;

// Where HotSpot's refill path calls `joint`: its slot, or, if zeroing has taken that over, where zeroing
// calls on.
Joint under_zeroing(const Joint& joint, bool zeroing) {
  Joint under = joint;
  if (std::uintptr_t* const inner = zeroing ? zeroing_calls(joint.name) : nullptr) {
    under.cell = inner;
  }
  return under;
}

// A static field of libjvm that is set once the heap is made. The class was renamed in JDK 23.
const std::size_t* find_region_bytes(const Stock& stock) {
  const VmStructs structs(stock);
  for (const std::string_view type : {"HeapRegion", "G1HeapRegion"}) {
    if (const auto address = structs.static_address(type, "GrainBytes")) {
      return reinterpret_cast<const std::size_t*>(*address);
    }
  }
  throw Refusal("the buffers graft cannot join " + stock.description(),
                {.looked_for = "HeapRegion::GrainBytes in libjvm's table of structures",
                 .found = "none",
                 .advice = "use another collector, for example with -XX:+UseParallelGC"},
                kExitCannotTakeGraft);
}

std::size_t region_flag(const Stock& stock) {
  if (const auto bytes = stock.size_flag(kRegionFlag)) {
    return *bytes;
  }
  throw Refusal("the buffers graft cannot join " + stock.description(),
                {.looked_for = "the flag " + std::string(kRegionFlag),
                 .found = "no such flag in this libjvm",
                 .advice = "use another collector, for example with -XX:+UseParallelGC"},
                kExitCannotTakeGraft);
}

std::byte* ask_heap(void* heap, Words words) {
  std::size_t actual = 0;
  void* const memory = the_buffers->allocate_new_tlab(heap, words.count(), words.count(), &actual);
  the_buffers->times->mine().heap_words.add(memory == nullptr ? 0 : words.count());
  return static_cast<std::byte*>(memory);
}

std::byte* fill_buffer(void* heap, Words words, std::size_t node) {
  return the_buffers->numa == nullptr ? ask_heap(heap, words)
                                      : the_buffers->numa->allocate(heap, words, node);
}

void zero_filling(allocation::Rest filling) {
  zeroing_clears(filling.start, to_bytes(filling.words).count());
}

void fill_rest(allocation::Rest rest) {
  if (the_buffers->zeroing) {
    // The helper that zeroes ahead must be out of it before.
    zeroing_leaves_alone(rest.start, to_bytes(rest.words).count());
  }
  the_buffers->fill(rest.start, rest.words.count(), true);
}

// At the first request of all, the JVM's own, before the program starts.
void check_region(Buffers& buffers) {
  if (buffers.region_bytes == nullptr || buffers.region_checked.load(std::memory_order_relaxed)) {
    return;
  }
  buffers.region_checked.store(true, std::memory_order_relaxed);
  const Bytes most_bytes(*buffers.region_bytes / 2);
  const Words most = to_words(most_bytes);
  if (buffers.sizes != nullptr) {
    buffers.sizes->limit(most);
    return;
  }
  Words below = 1_words;
  for (std::size_t i = 0; i < buffers.hierarchy->levels(); ++i) {
    const allocation::Level level = buffers.hierarchy->level(i);
    if (to_bytes(level.words) > most_bytes) {
      if (!buffers.region_was_given) {
        // HotSpot's own choice of region contradicts no wish of the user: buffers fit themselves into it, and
        // the summary says so. Nothing has been taken yet.
        buffers.hierarchy->resize(i, most / below * below);
        below = buffers.hierarchy->level(i).words;
        continue;
      }
      buffers.refuse(Refusal(
          "the buffers graft cannot join",
          {.looked_for =
               "buffers that fit into half a region of G1, " + std::to_string(most_bytes.count()) + " bytes",
           .found = std::string(name_of(level.kind)) + " buffers of " +
                    std::to_string(to_bytes(level.words).count()) + " bytes",
           .advice = "ask for smaller ones, or for larger regions with -XX:G1HeapRegionSize"},
          kExitCannotTakeGraft));
    }
    below = level.words;
  }
  if (buffers.node_level_added) {
    // Only now it is known how much may be bound at once. Nothing has been taken yet.
    const std::size_t top = buffers.hierarchy->levels() - 1;
    const Words piece = top == 0 ? 1_words : buffers.hierarchy->level(top - 1).words;
    buffers.hierarchy->resize(top, most / piece * piece);
  }
}

// Memory from a buffer or, where none has enough, from the heap. `words` becomes how many they are.
template <typename FromHeap>
void* hand_out(Words least, Words requested, void* heap, std::size_t& words, FromHeap from_heap) {
  const Buffers& buffers = *the_buffers;
  Times& times = buffers.times->mine();
  times.requests.add(1);
  const std::uint64_t start = read_cycles().count();
  const allocation::Hierarchy::Taken taken = buffers.hierarchy->take(least, requested, heap);
  if (taken.start == nullptr) {
    void* const memory = from_heap();
    if (memory != nullptr) {
      times.heap_words.add(words);
      times.heap.add(read_cycles().count() - start);
    }
    return memory;
  }
  const std::uint64_t cycles = read_cycles().count() - start;
  (taken.refilled ? times.refills : times.levels.at(taken.level)).add(cycles);
  if (buffers.zero_at_refill && taken.level == 0) {
    zeroing_was_done();
  }
  words = taken.words.count();
  return taken.start;
}

void* buffered_allocate_new_tlab(void* heap, std::size_t min_words, std::size_t requested_words,
                                 std::size_t* actual_words) {
  Buffers& buffers = *the_buffers;
  check_region(buffers);
  if (buffers.sizes != nullptr) {
    requested_words = std::max(min_words, buffers.sizes->thread_words().count());
  }
  if (buffers.numa != nullptr) {
    // A TLAB that no buffer can hold would come from the heap, and lie wherever that is.
    const Words most = buffers.hierarchy->level(buffers.hierarchy->levels() - 1).words;
    requested_words = std::max(min_words, std::min(requested_words, most.count()));
  }
  return hand_out(Words(min_words), Words(requested_words), heap, *actual_words,
                  [&] { return buffers.allocate_new_tlab(heap, min_words, requested_words, actual_words); });
}

void* buffered_mem_allocate(void* heap, std::size_t words, bool* limit_exceeded) {
  Buffers& buffers = *the_buffers;
  check_region(buffers);
  std::size_t actual_words = words;
  return hand_out(Words(words), Words(words), heap, actual_words,
                  [&] { return buffers.mem_allocate(heap, words, limit_exceeded); });
}

allocation::AutoSize::Totals totals(const Buffers& buffers) {
  allocation::AutoSize::Totals totals;
  buffers.times->each([&](const Times& times) {
    totals.threads += times.requests.value() > 0 ? 1 : 0;
    totals.thread_buffers += times.requests.value();
    totals.heap_words += Words(times.heap_words.value());
  });
  return totals;
}

void close_all() {
  the_buffers->hierarchy->close();
  if (the_buffers->numa != nullptr) {
    the_buffers->numa->close();
  }
}

void buffered_ensure_parsability(void* heap, bool retire_tlabs) {
  close_all();
  the_buffers->ensure_parsability(heap, retire_tlabs);
}

// The median of some: an interrupt may come between two readings.
std::uint64_t own_cycles_of_clock() {
  std::array<std::uint64_t, 101> seen{};
  for (std::uint64_t& cycles : seen) {
    const std::uint64_t start = read_cycles().count();
    cycles = read_cycles().count() - start;
  }
  std::ranges::nth_element(seen, seen.begin() + seen.size() / 2);
  return seen.at(seen.size() / 2);
}

template <typename Pick>
Latencies latencies(const Buffers& buffers, Pick pick) {
  std::array<std::uint64_t, 512> sum{};
  buffers.times->each([&](const Times& times) { pick(times).add_to(sum); });
  Latencies found;
  for (const std::uint64_t count : sum) {
    found.requests += count;
  }
  const double cycles_per_nanosecond = buffers.cycle_rate.per_nanosecond();
  const auto quantile = [&](double share) {
    std::uint64_t before = 0;
    for (std::size_t at = 0; at < sum.size(); ++at) {
      before += sum.at(at);
      if (static_cast<double>(before) >= share * static_cast<double>(found.requests)) {
        const double own = std::min(Histogram::cycles_of(at), static_cast<double>(buffers.clock_cycles));
        return (Histogram::cycles_of(at) - own) / cycles_per_nanosecond;
      }
    }
    return 0.0;
  };
  if (found.requests > 0) {
    found.median = quantile(0.5);
    found.p99 = quantile(0.99);
    found.highest = quantile(1);
  }
  return found;
}

// Levels that have as many buffers as another one add nothing but work.
void check_levels(std::span<const allocation::Level> levels, const allocation::Topology& topology) {
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const allocation::Kind below = levels[i - 1].kind;
    const allocation::Kind kind = levels[i].kind;
    if (topology.count(kind) == topology.count(below)) {
      const std::string name(name_of(kind));
      throw Refusal("the buffers graft cannot join on this machine",
                    {.looked_for = "fewer " + name + "s than " + std::string(name_of(below)) + "s",
                     .found = "as many: " + std::to_string(topology.count(kind)),
                     .advice = "leave one of these levels out"},
                    kExitCannotTakeGraft);
    }
  }
}

// Where sizes decide themselves, so do levels: CPUs, and processors where there are several.
std::vector<allocation::Level> own_levels(const allocation::Topology& topology) {
  using allocation::Kind;
  std::vector<allocation::Level> levels{{.kind = Kind::cpu, .words = kFirstBufferWords}};
  const std::size_t processors = topology.count(Kind::processor);
  if (processors > 1 && processors < topology.cpus()) {
    levels.push_back({.kind = Kind::processor, .words = kPerProcessor * kFirstBufferWords});
  }
  return levels;
}

}  // namespace

Joints find_buffer_joints(const BufferOptions& options, const Stock& stock, Collector collector) {
  return find_joints(options.objects ? kObjectBufferNeeds : kBufferNeeds, stock, collector);
}

void install_buffers(const BufferOptions& options, const Stock& stock, Collector collector,
                     const Joints& joints, bool zeroing, LateRefusal refuse_late, Patch& patch) {
  static Buffers buffers;
  const bool restartable = options.take != BufferOptions::Take::atomic && allocation::can_replace_on_cpu();
  if (options.take == BufferOptions::Take::restartable && !restartable) {
    throw Refusal(
        "take=restartable is not possible here",
        {.looked_for = "restartable sequences registered by the C library",
         .found = "none: they need glibc 2.35 and Linux 4.18, and GLIBC_TUNABLES must not forbid them",
         .advice = "use take=atomic, or leave the choice to Memgraft"},
        kExitCannotTakeGraft);
  }
  const allocation::Topology topology = allocation::Topology::of_system();
  std::vector<allocation::Level> levels = options.automatic ? own_levels(topology) : options.levels;
  if (options.numa_eden) {
    const std::size_t asked = levels.size();
    levels = levels_by_node(levels, topology, collector == Collector::g1);
    buffers.node_level_added = levels.size() > asked;
  }
  buffers.numa = options.numa_eden ? make_numa_eden(topology, ask_heap, fill_rest) : nullptr;
  check_levels(levels, topology);
  buffers.zeroing = zeroing;
  buffers.clock_cycles = own_cycles_of_clock();
  buffers.refuse = refuse_late;
  buffers.hierarchy = new allocation::Hierarchy(levels, topology,
                                                {.allocate = fill_buffer,
                                                 .discard = fill_rest,
                                                 .prepare = options.zero_at_refill ? zero_filling : nullptr,
                                                 .by_node = buffers.numa != nullptr},
                                                restartable);
  buffers.times = new allocation::PerThread<Times>;
  buffers.zero_at_refill = options.zero_at_refill;
  buffers.sizes = options.automatic
                      ? new allocation::AutoSize(*buffers.hierarchy, kFirstTlabWords, kLeastTlabWords)
                      : nullptr;
  // A function of libjvm, whose mangled name tells its type.
  buffers.fill = reinterpret_cast<FillWithObjects>(joints.at(kFillWithObjects).original);
  if (collector == Collector::g1) {
    buffers.region_bytes = find_region_bytes(stock);
    // 0 unless the user gave it: HotSpot's own choice comes later than this.
    buffers.region_was_given = region_flag(stock) != 0;
  }
  for (const allocation::Level& level : levels) {
    buffers.asked_words.push_back(level.words);
  }
  if (buffers.node_level_added) {
    buffers.asked_words.back() = 0_words;
  }
  the_buffers = &buffers;
  if (options.objects) {
    take_over(patch, joints.at(kMemAllocate.method), buffers.mem_allocate, &buffered_mem_allocate);
    // The type that heap_methods.h says.
    buffers.allocate_new_tlab =
        reinterpret_cast<AllocateNewTlab>(joints.at(kAllocateNewTlab.method).original);
  } else {
    take_over(patch, under_zeroing(joints.at(kAllocateNewTlab.method), zeroing), buffers.allocate_new_tlab,
              &buffered_allocate_new_tlab);
  }
  take_over(patch, under_zeroing(joints.at(kEnsureParsability.method), zeroing), buffers.ensure_parsability,
            &buffered_ensure_parsability);
}

void buffers_collection_starts() {
  Buffers& buffers = *the_buffers;
  close_all();
  // Relaxed: a statistic.
  buffers.collections.fetch_add(1, std::memory_order_relaxed);
  if (buffers.sizes != nullptr) {
    buffers.sizes->collected(totals(buffers));
  }
}

BufferCounts buffer_counts() {
  const Buffers& buffers = *the_buffers;
  BufferCounts counts;
  for (std::size_t level = 0; level < buffers.hierarchy->levels(); ++level) {
    counts.levels.push_back({.level = buffers.hierarchy->level(level),
                             .asked_words = buffers.asked_words.at(level),
                             .buffers = buffers.hierarchy->buffers(level),
                             .restartable = buffers.hierarchy->restartable(level),
                             .counts = buffers.hierarchy->counts(level),
                             .latencies = latencies(buffers, [level](const Times& t) -> const auto& {
                               return t.levels.at(level);
                             })});
  }
  counts.heap_latencies = latencies(buffers, [](const Times& t) -> const auto& { return t.heap; });
  counts.heap_requests = counts.heap_latencies.requests;
  counts.refill_latencies = latencies(buffers, [](const Times& t) -> const auto& { return t.refills; });
  counts.collections = buffers.collections.load(std::memory_order_relaxed);
  counts.clock_nanoseconds = static_cast<double>(buffers.clock_cycles) / buffers.cycle_rate.per_nanosecond();
  if (buffers.sizes != nullptr) {
    counts.sizes = buffers.sizes->story();
  }
  if (buffers.numa != nullptr) {
    counts.numa = buffers.numa->counts();
  }
  return counts;
}

}  // namespace memgraft::hotspot
