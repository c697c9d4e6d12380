// How large buffers should be, decided after each collection from what was counted since the one before.
//
// The larger they are, the fewer refills contend for the level above; but the more of the nursery is lost at
// a collection in buffers that nobody has used up, and the more often a thread that was moved finds its
// memory in another CPU's buffer.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "memgraft/allocation/hierarchy.h"
#include "memgraft/units.h"

namespace memgraft::allocation {

// Of one level, from one collection to the next.
struct LevelSeen {
  std::uint64_t buffers = 1;
  Words words = 0_words;    // of each of them
  std::uint64_t taken = 0;  // requests
  Words taken_words = 0_words;
  std::uint64_t refills = 0;
  std::uint64_t contended = 0;
  std::uint64_t foreign = 0;
  Words lost_words = 0_words;     // at a collection, as is to be expected
  Words nursery_words = 0_words;  // that the heap handed out
};

enum class Reason : std::uint8_t { unused, right, wasteful, foreign, contended, busy, limited };
inline constexpr std::array<std::string_view, 7> kReasonNames{"unused",    "right", "wasteful", "foreign",
                                                              "contended", "busy",  "limited"};

struct Decision {
  Words words = 0_words;
  Reason reason = Reason::unused;
  friend bool operator==(const Decision&, const Decision&) = default;
};
// Sizes are halved, kept or doubled, within the limits.
Decision decide(const LevelSeen& seen, Words least, Words most);

// Sizes of the threads' buffers and of a hierarchy's levels.
class AutoSize {
 public:
  struct Change {
    std::uint64_t collection = 0;  // counted from 1
    Decision decision;
    LevelSeen seen;
  };
  struct OfLevel {
    double unused = 0.5;  // of a buffer, at a collection: an average in which the last ones weigh most
    Words first_words = 0_words;
    Words words = 0_words;
    std::uint64_t changes = 0;
    Change last;  // of them
    std::array<std::uint64_t, kReasonNames.size()> decisions{};
  };
  // What cannot be had from the hierarchy, since the start.
  struct Totals {
    std::uint64_t threads = 0;  // that have taken memory
    std::uint64_t thread_buffers = 0;
    Words heap_words = 0_words;  // handed out by the heap
  };

  AutoSize(Hierarchy& hierarchy, Words thread_words, Words least_thread_words);

  // No buffer of the hierarchy is to be larger. To be called before memory is taken.
  void limit(Words most);
  // With every thread stopped, after Hierarchy::close().
  void collected(const Totals& totals);

  // Of a thread's buffer. Relaxed: written with the world stopped only.
  [[nodiscard]] Words thread_words() const { return thread_words_.load(std::memory_order_relaxed); }
  // The threads' own buffers first, then the levels.
  [[nodiscard]] std::vector<OfLevel> story() const;

 private:
  void judge(OfLevel& level, LevelSeen seen, Words least, Words most);

  Hierarchy& hierarchy_;
  Words least_thread_words_;
  Words most_words_ = kMostWords;
  std::atomic<Words> thread_words_;
  mutable std::mutex story_mutex_;  // the summary is written while threads may still collect
  std::vector<OfLevel> story_;
  std::vector<LevelCounts> before_;
  Totals totals_before_;
  std::uint64_t collections_ = 0;
};

}  // namespace memgraft::allocation
