// Small pages that Linux could join to a huge page, although they belong on different nodes.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "memgraft/placement/profile.h"

namespace memgraft::placement {

// Addresses of blocks of that many bytes, each divided by it.
using Blocks = std::unordered_set<std::uint64_t>;

// Those of the blocks of whose small pages a share that matters is used most from another node than the rest.
// A page that two nodes use alike is none of them.
Blocks used_from_several(const Profile& profile, const Blocks& blocks, std::uint64_t block_bytes);

}  // namespace memgraft::placement
