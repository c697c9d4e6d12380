#include "memgraft/placement/replication.h"

#include <algorithm>
#include <numeric>

namespace memgraft::placement {

Replication would_replicate(const Profile& profile, double most_stores, double least_touches) {
  Replication result;
  for (std::size_t place = 0; place < profile.pages().size(); ++place) {
    const Page& page = profile.pages()[place];
    const auto touches = profile.touches(place);
    const double all = std::accumulate(touches.begin(), touches.end(), 0.0);
    const double most = *std::ranges::max_element(touches);
    const auto users =
        std::ranges::count_if(touches, [&](float of_node) { return of_node >= least_touches; });
    result.remote_before += page.node < 0 ? 0 : all - touches[static_cast<std::size_t>(page.node)];
    result.remote_placed += all - most;
    if (users < 2 || page.stores > most_stores * all) {
      result.remote_replicated += all - most;
      continue;
    }
    const auto others = static_cast<std::uint64_t>(users - 1);
    result.pages += page.pages;
    result.copies += others * page.pages;
    // Nodes that use it too little for a copy go on reading another's.
    for (const float of_node : touches) {
      result.remote_replicated += of_node < least_touches ? of_node : 0;
    }
    result.remote_replicated += page.stores * static_cast<double>(others);
  }
  return result;
}

}  // namespace memgraft::placement
