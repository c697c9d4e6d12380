// Pages that nobody was seen to touch: a monitor that samples pages comes to those of large memory late. They
// join the profile where the pages around them move for each other's touches, and are judged by these.
#include <algorithm>

#include "memgraft/placement/neighbours.h"
#include "memgraft/placement/session.h"

namespace memgraft::placement {

namespace {

constexpr std::uint64_t kRegionBytes = Neighbours::kMostPages * kPageBytes;
constexpr std::uint32_t kCompletedFor = 60;        // intervals; what is mapped since then is looked for
constexpr std::size_t kMostCompleted = 1U << 18U;  // regions

}  // namespace

void Session::add_neighbours(const std::vector<Move>& moves) {
  if (completed_.size() > kMostCompleted) {
    completed_.clear();
  }
  for (const Move& move : moves) {
    if (const auto place = profile_.find(move.address)) {
      profile_.pages()[*place].by_neighbours = move.by_neighbours;
    }
  }
  std::vector<std::uint64_t> added;
  for (const Move& move : moves) {
    // Half of the profile is for pages that are touched.
    const bool room = profile_.pages().size() + Neighbours::kMostPages <= plans_.most_pages / 2;
    if (!room || !asking_.allows()) {
      break;
    }
    if (move.by_neighbours) {
      add_neighbours(move.address, added);
    }
  }
}

// Those in the page's region that no gap, and no other file, parts from it: what is behind is another piece
// of memory.
void Session::add_neighbours(std::uint64_t page, std::vector<std::uint64_t>& added) {
  const std::uint64_t region = page / kRegionBytes;
  const auto [known, is_new] = completed_.try_emplace(region, number_);
  if (!is_new && number_ - known->second < kCompletedFor) {
    return;
  }
  known->second = number_;
  const auto place = profile_.find(page);
  const Mapping* const own = mappings_.of(page);
  if (!place || own == nullptr) {
    return;
  }
  const Page like = profile_.pages()[*place];
  const auto belongs = [&](std::uint64_t address) {
    const Mapping* const mapping = mappings_.of(address);
    return mapping != nullptr && mapping->name == own->name;
  };
  added.clear();
  asking_.spend([&] {
    std::uint64_t begin = page;
    while (begin > region * kRegionBytes && belongs(begin - kPageBytes)) {
      begin -= kPageBytes;
    }
    for (std::uint64_t address = begin; address < (region + 1) * kRegionBytes && belongs(address);
         address += kPageBytes) {
      if (!profile_.find(address) && block_of(address) == Block{.address = address}) {
        profile_.add_untouched(address, like);
        added.push_back(address);
      }
    }
  });
  ask_where(added);
  for (const std::uint64_t address : added) {
    const auto there = profile_.find(address);
    if (there && profile_.pages()[*there].node < 0) {
      profile_.forget(*there);  // nothing is there
    }
  }
}

}  // namespace memgraft::placement
