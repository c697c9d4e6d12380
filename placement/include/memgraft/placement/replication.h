// An experiment, by replay only: what copies of pages on every node that reads them would save. Linux has no
// such copies of a program's data, so nothing of it is offered on the command line.
#pragma once

#include <cstdint>
#include <vector>

#include "memgraft/placement/profile.h"

namespace memgraft::placement {

struct Replication {
  std::uint64_t pages = 0;       // of which there would be copies
  std::uint64_t copies = 0;      // in pages, besides the ones that are there
  double remote_before = 0;      // touches of all pages from other nodes, as the pages lie
  double remote_placed = 0;      // the same if each page lay on the node that touches it most
  double remote_replicated = 0;  // the same with the copies besides: stores to a copied page are remote
};

// Modelled from a profile whose monitor tells loads from stores. A page is copied to each node that touches
// it where at most `most_stores` of its touches are stores and at least two nodes have `least_touches` each.
// A store must reach every copy: it counts as one remote touch per other copy.
Replication would_replicate(const Profile& profile, double most_stores = 0.01, double least_touches = 2);

}  // namespace memgraft::placement
