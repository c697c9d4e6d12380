// How large the buffers of one level should be from the next collection on. Pure: what was counted in, a size out.
//
// The larger the buffers, the fewer refills contend for the level above; the more of the nursery is lost at a
// collection in buffers that nobody has used up, and the more a thread that was moved finds its memory in another
// CPU's buffer.
#pragma once

#include <cstdint>
#include <string>

namespace memgraft::allocation {

// Of one level, from one collection to the next.
struct LevelSeen {
  std::uint64_t buffers = 1;
  std::uint64_t words = 0;            // of each buffer
  std::uint64_t taken = 0;            // requests
  std::uint64_t taken_words = 0;
  std::uint64_t refills = 0;
  std::uint64_t contended = 0;
  std::uint64_t foreign = 0;
  std::uint64_t lost_words = 0;       // at the collection
  std::uint64_t nursery_words = 0;    // handed out by the heap, to buffers and past them
};

struct Sizing {
  std::uint64_t words = 0;
  std::string reason;
};

class AutoSize {
 public:
  // Buffers never hold less than `least_words` or more than `most_words` (G1: half a region).
  AutoSize(std::uint64_t least_words, std::uint64_t most_words) : least_(least_words), most_(most_words) {}

  [[nodiscard]] Sizing decide(const LevelSeen& seen) const;

 private:
  std::uint64_t least_;
  std::uint64_t most_;
};

}  // namespace memgraft::allocation
