#include "memgraft/allocation/hierarchy.h"

#include <optional>
#include <utility>

namespace memgraft::allocation {

// How a buffer's word is changed.
struct Hierarchy::Machine {
  using Word = std::atomic<State>;
  using Pointer = std::atomic<std::byte*>;
  using Size = std::atomic<std::uint64_t>;

  std::optional<unsigned> cpu;  // of the buffer, where it is one CPU's alone

  Replaced replace(Word& word, State expected, State desired) const {
    if (cpu) {
      return replace_on_cpu(word, expected, desired, *cpu);
    }
    // Acquire and release: what was in the memory before, and where the filling lay, is seen by whoever takes
    // it over.
    return word.compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)
               ? Replaced::yes
               : Replaced::no;
  }
};

// Two lines because of the adjacent-line prefetcher (Intel Optimization Reference Manual, section 2.5.5.4).
struct alignas(128) Hierarchy::OwnLine {
  Buffer<Machine> buffer;
};

Hierarchy::Hierarchy(const std::vector<Level>& levels, Topology topology, Heap heap, bool restartable)
    : topology_(std::move(topology)), heap_(heap) {
  for (std::size_t level = 0; level < levels.size(); ++level) {
    kinds_.push_back(levels[level].kind);
    resize(level, levels[level].words);
    Stage& stage = stages_.at(level);
    stage.buffers = std::make_unique<OwnLine[]>(buffers(level));  // NOLINT(modernize-avoid-c-arrays)
    stage.restartable = restartable && buffers(level) == topology_.cpus();
    stage.nodes.resize(buffers(level));
    for (std::size_t cpu = 0; cpu < topology_.cpus(); ++cpu) {
      stage.nodes.at(topology_.index_of(levels[level].kind, cpu)) = topology_.index_of(Kind::node, cpu);
    }
  }
}

Hierarchy::~Hierarchy() = default;

Hierarchy::Taken Hierarchy::take(Words least, Words wanted, void* context) {
  return take_from(0, least, wanted, context);
}

Hierarchy::Taken Hierarchy::take_from(std::size_t level, Words least, Words wanted, void* context) {
  for (; level < kinds_.size(); ++level) {
    const Words all = this->level(level).words;
    if (wanted == all || wanted + kLeastRest <= all) {
      if (const Taken taken = search(level, least, wanted, context); taken.start != nullptr) {
        return taken;
      }
    }
  }
  return {};
}

Hierarchy::Taken Hierarchy::search(std::size_t level, Words least, Words wanted, void* context) {
  using Outcome = Buffer<Machine>::Outcome;
  const Stage& stage = stages_.at(level);
  const Kind kind = kinds_[level];
  const std::size_t all = topology_.count(kind);
  ThreadCounts::OfLevel& counts = counts_.mine().levels.at(level);
  // Buffers of one CPU each are nobody else's to take from: their owners do not expect it.
  const std::size_t tried = stage.restartable ? 1 : all;
  unsigned cpu = own_cpu();
  bool heap_has_more = true;
  for (std::size_t i = 0; i < tried;) {
    const std::size_t at = (topology_.index_of(kind, cpu) + i) % all;
    if (heap_.by_node && heap_has_more && stage.nodes[at] != topology_.index_of(Kind::node, cpu)) {
      ++i;
      continue;
    }
    Buffer<Machine>& buffer = stage.buffers[at].buffer;
    const Machine machine{.cpu = stage.restartable ? std::optional(cpu) : std::nullopt};
    const auto done = [&](std::byte* start, Words words, bool refilled) {
      counts.taken.add(1);
      counts.words.add(words.count());
      counts.foreign.add(topology_.index_of(kind, own_cpu()) == at ? 0 : 1);
      return Taken{.start = start, .words = words, .level = level, .refilled = refilled};
    };
    const auto taken = buffer.take(machine, least, wanted);
    counts.contended.add(taken.retries);
    switch (taken.outcome) {
      case Outcome::taken:
        return done(taken.start, taken.words, false);
      case Outcome::moved:
        counts.moved.add(1);
        cpu = own_cpu();
        continue;
      case Outcome::refilling:
        counts.contended.add(1);
        break;
      case Outcome::full:
        if (heap_has_more) {
          const Refilled refilled = refill(level, at, machine, taken.seen, wanted, context, counts);
          if (refilled.start != nullptr) {
            return done(refilled.start, wanted, true);
          }
          heap_has_more = refilled.heap_has_more;
        }
    }
    ++i;
  }
  return {};
}

Hierarchy::Refilled Hierarchy::refill(std::size_t level, std::size_t at, const Machine& machine, State seen,
                                      Words wanted, void* context, ThreadCounts::OfLevel& counts) {
  const Stage& stage = stages_.at(level);
  Buffer<Machine>& buffer = stage.buffers[at].buffer;
  const auto rest = buffer.start_refill(machine, seen);
  if (!rest) {
    counts.contended.add(1);
    return {};
  }
  if (rest->words > 0_words) {
    counts.words_lost.add(rest->words.count());
    heap_.discard(*rest);
  }
  const Rest fresh = fetch(level, stage.nodes[at], context);
  if (fresh.start == nullptr) {
    buffer.give_up_refill();
    return {.heap_has_more = false};
  }
  buffer.finish_refill(fresh.start, fresh.words, wanted);
  counts.refills.add(1);
  return {.start = fresh.start};
}

Rest Hierarchy::fetch(std::size_t level, std::size_t node, void* context) {
  const Words words = this->level(level).words;
  Rest fresh{.words = words};
  if (level + 1 < kinds_.size()) {
    fresh.start = take_from(level + 1, words, words, context).start;
  }
  if (fresh.start == nullptr) {
    fresh.start = heap_.allocate(context, words, node);
  }
  if (fresh.start != nullptr && level == 0 && heap_.prepare != nullptr) {
    heap_.prepare(fresh);
  }
  return fresh;
}

void Hierarchy::resize(std::size_t level, Words words) {
  stages_.at(level).words.store(words, std::memory_order_relaxed);
}

void Hierarchy::close() {
  for (std::size_t level = 0; level < kinds_.size(); ++level) {
    for (std::size_t at = 0; at < buffers(level); ++at) {
      const auto rest = stages_.at(level).buffers[at].buffer.close();
      if (rest && rest->words > 0_words) {
        // Relaxed: a statistic.
        stages_.at(level).words_lost_at_closes.fetch_add(rest->words.count(), std::memory_order_relaxed);
        heap_.discard(*rest);
      }
    }
  }
}

LevelCounts Hierarchy::counts(std::size_t level) const {
  LevelCounts sum;
  counts_.each([&](const ThreadCounts& one) {
    const ThreadCounts::OfLevel& of = one.levels.at(level);
    sum.taken += of.taken.value();
    sum.refills += of.refills.value();
    sum.foreign += of.foreign.value();
    sum.contended += of.contended.value();
    sum.moved += of.moved.value();
    sum.words += Words(of.words.value());
    sum.words_lost_at_refills += Words(of.words_lost.value());
  });
  sum.words_lost_at_closes = Words(stages_.at(level).words_lost_at_closes.load(std::memory_order_relaxed));
  return sum;
}

}  // namespace memgraft::allocation
