// Small pages that Linux could join to a huge page, although they belong on different nodes.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "memgraft/placement/profile.h"

namespace memgraft::placement {

// Where huge pages may lie: addresses, each divided by the bytes of a huge page.
using Regions = std::unordered_set<std::uint64_t>;

// Those of the regions of whose small pages a share that matters is used most from another node than the
// rest. A page that two nodes use alike is none of them.
Regions used_from_several(const Profile& profile, const Regions& regions, std::uint64_t region_bytes);

// Whether a small page of the region is used most from another node than this one.
bool has_other_users(const Profile& profile, std::uint64_t region, std::uint64_t region_bytes,
                     std::size_t node);

}  // namespace memgraft::placement
