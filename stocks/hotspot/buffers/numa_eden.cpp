#include "buffers/numa_eden.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "join/refusal.h"
#include "memgraft/units.h"

namespace memgraft::hotspot {

namespace {

using allocation::Kind;
using allocation::Level;

// What is bound at once splits a mapping of Linux, of which a process may have 65530 (vm.max_map_count):
// so that eden has thousands of pieces rather than millions. On G1 it must fit into half a region, whose size
// is not known yet; the smallest has 1 MiB.
constexpr Words kWords = to_words(Bytes(std::uint64_t{16} << 20U));
constexpr Words kWordsOnG1 = to_words(Bytes(std::uint64_t{512} << 10U));
// Of the pages, one in sixteen may lie elsewhere before the filling is moved.
constexpr std::size_t kToleratedPart = 16;
// Spares are lost at a collection, which collectors that collect within an allocation (Serial, G1, all of JDK
// 25) begin before they are asked for: no more of eden than this.
constexpr std::uint64_t kSparesPart = 16;

void check_within_nodes(Kind kind, const allocation::Topology& topology) {
  std::vector<std::optional<std::size_t>> nodes(topology.count(kind));
  for (std::size_t cpu = 0; cpu < topology.cpus(); ++cpu) {
    const std::size_t node = topology.index_of(Kind::node, cpu);
    if (nodes.at(topology.index_of(kind, cpu)).value_or(node) != node) {
      const std::string name(name_of(kind));
      throw Refusal("numa-eden cannot join on this machine",
                    {.looked_for = name + "s within one node each",
                     .found = "a " + name + " with CPUs of several nodes",
                     .advice = "leave the level " + name + " out"},
                    kExitCannotTakeGraft);
    }
    nodes.at(topology.index_of(kind, cpu)) = node;
  }
}

// Relaxed, all: statistics.
std::uint64_t value(const std::atomic<std::uint64_t>& count) { return count.load(std::memory_order_relaxed); }
void add(std::atomic<std::uint64_t>& count, std::uint64_t more = 1) {
  count.fetch_add(more, std::memory_order_relaxed);
}

}  // namespace

std::vector<Level> levels_by_node(std::vector<Level> levels, const allocation::Topology& topology, bool g1) {
  const std::size_t nodes = topology.count(Kind::node);
  if (nodes == 1) {
    std::erase_if(levels, [](const Level& level) { return level.kind == Kind::node; });
    return levels;
  }
  for (const Level& level : levels) {
    check_within_nodes(level.kind, topology);
  }
  const Words words = g1 ? kWordsOnG1 : kWords;
  if (levels.empty()) {
    levels.push_back({.kind = Kind::node, .words = words});
  } else if (const Level top = levels.back(); top.words < words && topology.count(top.kind) != nodes) {
    // A multiple, so that nothing is left over.
    levels.push_back({.kind = Kind::node, .words = (words + top.words - 1_words) / top.words * top.words});
  }
  return levels;
}

NumaEden* make_numa_eden(const allocation::Topology& topology, NumaEden::Ask ask, NumaEden::Discard discard) {
  return topology.count(Kind::node) == 1
             ? nullptr
             : new NumaEden(topology.node_numbers(), linux_os::NumaMemory::real(), ask, discard);
}

std::byte* NumaEden::allocate(void* heap, Words words, std::size_t node) {
  while (true) {
    std::byte* start = take_spare(words, node);
    const bool spare = start != nullptr;
    if (!spare) {
      start = ask_(heap, words);
    }
    if (start == nullptr) {
      // Rather than collecting while there is memory.
      for (std::size_t other = 0; other < spares_.size() && start == nullptr; ++other) {
        start = take_spare(words, other);
      }
      add(remote_, start == nullptr ? 0 : 1);
      add(fillings_, start == nullptr ? 0 : 1);
      return start;
    }
    add(words_now_, spare ? 0 : words.count());
    const Seen seen = look(start, words, node);
    if (!spare && seen.home != node && seen.home < spares_.size() && put_aside(start, words, seen.home)) {
      continue;
    }
    bind(start, words, node, seen);
    add(spares_used_, spare ? 1 : 0);
    add(fillings_);
    return start;
  }
}

NumaEden::Seen NumaEden::look(const std::byte* start, Words words, std::size_t node) {
  const linux_os::PagePlaces places = memory_.places(start, to_bytes(words).count());
  if (places.error != 0) {
    failed("move_pages", places.error);
  }
  Seen found{.asked = places.asked, .home = numbers_.size()};
  const auto pages_on = [&](std::uint32_t number) {
    return static_cast<std::size_t>(std::ranges::count(places.seen(), static_cast<int>(number)));
  };
  for (std::size_t other = 0; other < numbers_.size(); ++other) {
    if (2 * pages_on(numbers_[other]) > found.asked) {
      found.home = other;
    }
  }
  const auto there = std::ranges::count_if(places.seen(), [](int number) { return number >= 0; });
  found.local = pages_on(numbers_.at(node));
  found.remote = static_cast<std::size_t>(there) - found.local;
  return found;
}

void NumaEden::bind(std::byte* start, Words words, std::size_t node, const Seen& seen) {
  // What the pages hold is nobody's, so that others can take their place.
  const bool anew = seen.remote * kToleratedPart > seen.asked;
  if (!anew && seen.asked > 0 && seen.local + seen.remote == seen.asked) {
    add(local_);
    return;
  }
  if (const int error = memory_.prefer(start, to_bytes(words).count(), numbers_.at(node), anew); error != 0) {
    failed("mbind", error);
    return;
  }
  add(bound_words_, words.count());
  add(moved_, anew ? 1 : 0);
}

bool NumaEden::put_aside(std::byte* start, Words words, std::size_t node) {
  if ((value(spare_words_) + words.count()) * kSparesPart > value(words_before_)) {
    return false;
  }
  for (OwnLine& line : spares_.at(node)) {
    if (line.spare.put({.start = start, .words = words})) {
      add(spare_words_, words.count());
      return true;
    }
  }
  return false;
}

std::byte* NumaEden::take_spare(Words words, std::size_t node) {
  for (OwnLine& line : spares_.at(node)) {
    if (std::byte* const start = line.spare.take(words); start != nullptr) {
      spare_words_.fetch_sub(words.count(), std::memory_order_relaxed);
      return start;
    }
  }
  return nullptr;
}

void NumaEden::close() {
  for (Spares& of_node : spares_) {
    for (OwnLine& line : of_node) {
      // Nobody is in the midst of changing one: see above.
      if (const allocation::Rest rest = line.spare.close(); rest.words > 0_words) {
        add(words_lost_, rest.words.count());
        discard_(rest);
      }
    }
  }
  spare_words_.store(0, std::memory_order_relaxed);
  // Half: so that a walk of the heap soon after a collection does not make eden look small. A collection may
  // close twice.
  if (const std::uint64_t words = words_now_.exchange(0, std::memory_order_relaxed); words > 0) {
    words_before_.store(std::max(words, value(words_before_) / 2), std::memory_order_relaxed);
  }
}

void NumaEden::failed(const char* call, int error) {
  add(failures_);
  failed_call_.store(call, std::memory_order_relaxed);
  failed_error_.store(error, std::memory_order_relaxed);
}

NumaCounts NumaEden::counts() const {
  const int error = failed_error_.load(std::memory_order_relaxed);
  return {.nodes = numbers_.size(),
          .fillings = value(fillings_),
          .local_fillings = value(local_),
          .moved_fillings = value(moved_),
          .spares_used = value(spares_used_),
          .remote_fillings = value(remote_),
          .bound = to_bytes(Words(value(bound_words_))),
          .words_lost_at_closes = Words(value(words_lost_)),
          .failures = value(failures_),
          .reason = error == 0 ? ""
                               : std::string(failed_call_.load(std::memory_order_relaxed)) + ": " +
                                     std::generic_category().message(error)};
}

}  // namespace memgraft::hotspot
