// What is known of the pages around one of which too little is. Programs divide their memory in pieces of
// many pages, so neighbours are mostly used from the same node; where they are not, their touches say so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memgraft/placement/profile.h"

namespace memgraft::placement {

// Small pages in an aligned block of memory, of a power of two of them.
struct Around {
  std::span<const float> touches;  // by node, of all of them together
  float span = 1;                  // as of a page, of all of them together
  float accesses_per_touch = 1;    // the mean
};

class Neighbours {
 public:
  // Enough to tell a block that one node uses from one that all use alike. Where four nodes do, 8 touches say
  // by chance that its pages should move in one of 160 cases; 3 touches of a single page do in one of 21.
  static constexpr double kEnough = 8;
  static constexpr std::uint64_t kMostPages = 512;  // in a block: 2 MiB

  explicit Neighbours(const Profile& profile);

  // The smallest block around the page at that place of the profile whose pages have kEnough touches; none:
  // no touches. Valid as long as this.
  [[nodiscard]] Around around(std::size_t place) const;

 private:
  // From `first` to before `last` of order_ are the pages in that block.
  struct Part {
    std::size_t first = 0;
    std::size_t last = 0;
    std::uint64_t address = 0;
    std::uint64_t pages = 0;
  };
  bool divide(const Part& part);
  void assign(const Part& part, std::uint32_t block);
  [[nodiscard]] double sum(std::size_t first, std::size_t last, std::size_t column) const;
  std::uint32_t add_block(const Part& part);

  const Profile& profile_;
  std::size_t columns_;
  struct Placed {
    std::uint64_t address = 0;
    std::uint32_t place = 0;  // in the profile
  };
  std::vector<Placed> order_;   // small pages, by address
  std::vector<double> sums_;    // columns_ of each place of order_: of all before it
  std::vector<Around> blocks_;  // their touches in touches_
  std::vector<float> touches_;
  std::vector<std::uint32_t> around_;  // by place in the profile: place in blocks_ + 1; 0: none
};

}  // namespace memgraft::placement
