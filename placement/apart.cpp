#include "memgraft/placement/apart.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace memgraft::placement {

namespace {

// Of the pages: fewer, as main threads that once wrote to them, are not worth a huge page.
constexpr std::uint32_t kLeastShare = 8;

// Which node touched it more often than any other.
std::optional<std::size_t> user_of(std::span<const float> touches) {
  const auto most = std::ranges::max_element(touches);
  if (most == touches.end() || *most == 0 || std::ranges::count(touches, *most) > 1) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(most - touches.begin());
}

}  // namespace

Regions used_from_several(const Profile& profile, const Regions& regions, std::uint64_t region_bytes) {
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> pages_by_user;
  for (std::size_t place = 0; place < profile.pages().size(); ++place) {
    const Page& page = profile.pages()[place];
    const std::uint64_t region = page.address / region_bytes;
    if (page.pages != 1 || !regions.contains(region)) {
      continue;
    }
    if (const auto user = user_of(profile.touches(place))) {
      auto& pages = pages_by_user[region];
      pages.resize(profile.nodes());
      ++pages[*user];
    }
  }
  Regions found;
  for (const auto& [region, pages] : pages_by_user) {
    const std::uint32_t all = std::accumulate(pages.begin(), pages.end(), 0U);
    if ((all - std::ranges::max(pages)) * kLeastShare >= all) {
      found.insert(region);
    }
  }
  return found;
}

bool has_other_users(const Profile& profile, std::uint64_t region, std::uint64_t region_bytes,
                     std::size_t node) {
  for (std::uint64_t at = region * region_bytes; at < (region + 1) * region_bytes; at += kPageBytes) {
    const auto place = profile.find(at);
    if (place && profile.pages()[*place].pages == 1) {
      if (const auto user = user_of(profile.touches(*place)); user && *user != node) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace memgraft::placement
