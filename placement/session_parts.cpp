// Parts of transparent huge pages, of a monitor that splits what it samples: when they may move one by one.
#include <algorithm>
#include <utility>

#include "memgraft/placement/session.h"

namespace memgraft::placement {

namespace {

constexpr std::size_t kMostKnownApart = 65536;  // huge pages
// Intervals that parts wait for which move as one: what is left of this one, and the next.
constexpr std::uint32_t kFirstWait = 2;
constexpr std::uint32_t kMostDoublings = 9;

}  // namespace

// It is not moved now, but when it is touched, or an interval later.
void Session::postpone(std::vector<Move>& moves, const std::function<bool(const Move&)>& when) {
  std::erase_if(moves, [&](const Move& move) {
    const auto place = profile_.find(move.address);
    const bool waits = place && when(move);
    if (waits) {
      profile_.pages()[*place].wanted = static_cast<std::int16_t>(move.to);
    }
    return waits;
  });
}

// Parts of huge pages that Linux has made since: the monitor has split one when it sees a part touched. And
// parts that belong on several nodes, until Linux is told not to make a huge page of them: that would put all
// on one node.
void Session::await_parts(std::vector<Move>& moves) {
  const std::uint64_t bytes = mappings_.huge_page_bytes();
  if (!monitor_->sees().splits || bytes == 0) {
    return;
  }
  postpone(moves, [&](const Move& move) {
    const bool joined = mappings_.block_of(move.address).pages != move.pages;
    if (joined) {
      apart_.erase(move.address / bytes);  // it is other memory now, or was not kept so
      separate_.erase(move.address / bytes);
    }
    return joined;
  });
  if (std::max({apart_.size(), separate_.size(), together_.size()}) > kMostKnownApart) {
    apart_.clear();  // all is asked for, and tried, again
    separate_.clear();
    together_.clear();
  }
  Regions regions;
  for (const Move& move : moves) {
    if (move.pages == 1 && !apart_.contains(move.address / bytes)) {
      regions.insert(move.address / bytes);
    }
  }
  if (regions.empty()) {
    return;
  }
  const Regions several = used_from_several(profile_, regions, bytes);
  for (const std::uint64_t region : several) {
    if (monitor_->keep_apart(region * bytes)) {
      apart_.insert(region);
    }
  }
  postpone(moves, [&](const Move& move) { return several.contains(move.address / bytes); });
}

// Linux maps the parts of a huge page one by one where one was sampled, and if splitting failed nobody tells
// that they still move as one. So of parts that several nodes use one moves first. Where others went with it,
// the monitor is asked to split them, and the region waits, each time twice as long.
void Session::move_first_parts(std::vector<Move>& moves) {
  const std::uint64_t bytes = mappings_.huge_page_bytes();
  if (!monitor_->sees().splits || bytes == 0) {
    return;
  }
  postpone(moves, [&](const Move& move) {
    const auto known = together_.find(move.address / bytes);
    return move.pages == 1 && known != together_.end() && number_ < known->second.until;
  });
  const auto has_others = [&](std::uint64_t region, std::size_t node) {
    bool found = false;
    asking_.spend([&] { found = has_other_users(profile_, region, bytes, node); });
    return found;
  };
  Regions looked_at;
  Regions tried;
  std::vector<Move> first;
  std::erase_if(moves, [&](const Move& move) {
    const std::uint64_t region = move.address / bytes;
    const bool is_first = move.pages == 1 && !separate_.contains(region) && looked_at.insert(region).second &&
                          has_others(region, move.to);
    if (is_first) {
      tried.insert(region);
      first.push_back(move);
    }
    return is_first;
  });
  for (const Move& move : first) {
    move_first(move, move.address / bytes, bytes);
  }
  postpone(moves, [&](const Move& move) {
    const std::uint64_t region = move.address / bytes;
    return move.pages == 1 && tried.contains(region) && !separate_.contains(region);
  });
}

void Session::move_first(const Move& move, std::uint64_t region, std::uint64_t bytes) {
  const auto is_there = [&](std::uint64_t address) {
    const auto place = profile_.find(address);
    return place && std::cmp_equal(profile_.pages()[*place].node, move.to);
  };
  std::vector<std::uint64_t> others = known_parts(region, bytes);
  std::erase(others, move.address);
  ask_where(others);
  std::erase_if(others, is_there);
  carry_out({move});
  ask_where(others);
  if (std::ranges::any_of(others, is_there)) {
    Together& known = together_[region];
    known.until = number_ + (kFirstWait << std::min(known.times++, kMostDoublings));
    if (!monitor_->keep_apart(region * bytes)) {
      apart_.erase(region);  // asked for again
    }
  } else if (!others.empty() && is_there(move.address)) {
    separate_.insert(region);
    together_.erase(region);
  }
}

// Small pages of the region in the profile, and where they lie is known.
std::vector<std::uint64_t> Session::known_parts(std::uint64_t region, std::uint64_t bytes) const {
  std::vector<std::uint64_t> found;
  for (std::uint64_t address = region * bytes; address < (region + 1) * bytes; address += kPageBytes) {
    const auto place = profile_.find(address);
    if (place && profile_.pages()[*place].pages == 1 && profile_.pages()[*place].node >= 0) {
      found.push_back(address);
    }
  }
  return found;
}

}  // namespace memgraft::placement
