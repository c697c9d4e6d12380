#include "memgraft/allocation/auto_size.h"

#include <algorithm>
#include <utility>

namespace memgraft::allocation {

namespace {

// HotSpot aims at losing 1 % of eden in TLABs (TLABWasteTargetPercent), and at 50 refills of each from one
// collection to the next (100 / (2 * TLABWasteTargetPercent), threadLocalAllocBuffer.cpp).
constexpr double kWasteTarget = 0.01;
constexpr double kWasteLimit = 2 * kWasteTarget;
constexpr double kRefillsWanted = 50;
constexpr double kContentionLimit = 0.01;
constexpr double kForeignLimit = 0.005;
// A buffer for fewer requests is hardly one.
constexpr std::uint64_t kLeastRequests = 4;
// What a collection finds unused varies from nothing to all; as HotSpot weighs its averages
// (TLABAllocationWeight).
constexpr double kWeight = 0.35;
// Fewer say nothing.
constexpr std::uint64_t kLeastSeen = 16;

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}
double share(Words part, Words whole) { return share(part.count(), whole.count()); }

}  // namespace

Decision decide(const LevelSeen& seen, Words least, Words most) {
  if (seen.taken < kLeastSeen || seen.nursery_words == 0_words) {
    return {.words = seen.words, .reason = Reason::unused};
  }
  least = std::max(least, kLeastRequests * (seen.taken_words / seen.taken));
  const double waste = share(seen.lost_words, seen.nursery_words);
  const bool contended = share(seen.contended, seen.taken) > kContentionLimit;
  const bool busy = share(seen.refills, seen.buffers) > kRefillsWanted;
  Decision wanted{.words = seen.words, .reason = Reason::right};
  if (waste > kWasteLimit) {
    wanted = {.words = seen.words / 2, .reason = Reason::wasteful};
  } else if (share(seen.foreign, seen.taken) > kForeignLimit) {
    wanted = {.words = seen.words / 2, .reason = Reason::foreign};
  } else if ((contended || busy) && 2 * waste < kWasteTarget) {
    // Twice the size loses about twice as much.
    wanted = {.words = seen.words * 2, .reason = contended ? Reason::contended : Reason::busy};
  }
  // Only against a step beyond them: a buffer that is outside already is not made more so, nor changed.
  if ((wanted.words < seen.words && wanted.words < least) ||
      (wanted.words > seen.words && wanted.words > most)) {
    return {.words = seen.words, .reason = Reason::limited};
  }
  return wanted;
}

AutoSize::AutoSize(Hierarchy& hierarchy, Words thread_words, Words least_thread_words)
    : hierarchy_(hierarchy), least_thread_words_(least_thread_words), thread_words_(thread_words) {
  story_.resize(1 + hierarchy.levels());
  story_.front().first_words = story_.front().words = thread_words;
  for (std::size_t level = 0; level < hierarchy.levels(); ++level) {
    OfLevel& of = story_.at(level + 1);
    of.first_words = of.words = hierarchy.level(level).words;
  }
  before_.resize(hierarchy.levels());
}

void AutoSize::limit(Words most) {
  const std::scoped_lock lock(story_mutex_);
  most_words_ = most;
  for (std::size_t level = 0; level < hierarchy_.levels(); ++level) {
    OfLevel& of = story_.at(level + 1);
    while (of.words > most) {
      of.words = of.words / 2;
    }
    of.first_words = of.words;
    hierarchy_.resize(level, of.words);
  }
}

void AutoSize::judge(OfLevel& level, LevelSeen seen, Words least, Words most) {
  if (seen.taken >= kLeastSeen) {
    const Words all = seen.buffers * seen.words;
    level.unused += kWeight * (share(seen.lost_words, all) - level.unused);
    seen.lost_words = Words(static_cast<std::uint64_t>(level.unused * static_cast<double>(all.count())));
  }
  const Decision decision = decide(seen, least, most);
  ++level.decisions.at(static_cast<std::size_t>(decision.reason));
  if (decision.words != level.words) {
    ++level.changes;
    level.last = {.collection = collections_, .decision = decision, .seen = seen};
    level.words = decision.words;
  }
}

void AutoSize::collected(const Totals& totals) {
  const std::scoped_lock lock(story_mutex_);
  ++collections_;
  const Words nursery = totals.heap_words - totals_before_.heap_words;
  const std::uint64_t filled = totals.thread_buffers - totals_before_.thread_buffers;
  const std::uint64_t threads = std::max<std::uint64_t>(totals.threads, 1);
  OfLevel& own = story_.front();
  // Their requests are objects, which nobody counts; half of each thread's last buffer is lost, on average.
  judge(own,
        {.buffers = threads,
         .words = own.words,
         .taken = filled,
         .refills = filled,
         .lost_words = threads * own.words / 2,
         .nursery_words = nursery},
        least_thread_words_,
        hierarchy_.levels() == 0 ? most_words_ : hierarchy_.level(0).words / kLeastRequests);
  thread_words_.store(own.words, std::memory_order_relaxed);
  Words below = own.words;
  for (std::size_t level = 0; level < hierarchy_.levels(); ++level) {
    const LevelCounts now = hierarchy_.counts(level);
    const LevelCounts then = std::exchange(before_.at(level), now);
    OfLevel& of = story_.at(level + 1);
    judge(of,
          {.buffers = hierarchy_.buffers(level),
           .words = of.words,
           .taken = now.taken - then.taken,
           .taken_words = now.words - then.words,
           .refills = now.refills - then.refills,
           .contended = now.contended - then.contended,
           .foreign = now.foreign - then.foreign,
           .lost_words = now.words_lost_at_closes - then.words_lost_at_closes,
           .nursery_words = nursery},
          kLeastRequests * below, most_words_);
    hierarchy_.resize(level, of.words);
    below = of.words;
  }
  totals_before_ = totals;
}

std::vector<AutoSize::OfLevel> AutoSize::story() const {
  const std::scoped_lock lock(story_mutex_);
  return story_;
}

}  // namespace memgraft::allocation
