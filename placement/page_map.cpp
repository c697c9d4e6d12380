#include "memgraft/placement/page_map.h"

#include "memgraft/placement/profile.h"

namespace memgraft::placement {

namespace {

std::uint64_t pages_of(const Mapping& mapping) { return (mapping.end - mapping.start) / kPageBytes; }

std::uint64_t cells_of(const Mapping& mapping, std::uint64_t cell_pages) {
  return (pages_of(mapping) + cell_pages - 1) / cell_pages;
}

}  // namespace

PageMap map_of_pages(const Mappings& mappings, Mover& mover, std::uint64_t most_cells) {
  PageMap map;
  std::uint64_t pages = 0;
  for (const Mapping& mapping : mappings.all()) {
    pages += mapping.data ? pages_of(mapping) : 0;
  }
  while (pages / map.cell_pages > most_cells) {
    map.cell_pages *= 2;
  }
  std::vector<std::uint64_t> addresses;
  std::vector<int> nodes;
  for (const Mapping& mapping : mappings.all()) {
    if (!mapping.data) {
      continue;
    }
    const std::uint64_t cells = cells_of(mapping, map.cell_pages);
    addresses.clear();
    for (std::uint64_t cell = 0; cell < cells; ++cell) {
      addresses.push_back(mapping.start + (cell * map.cell_pages * kPageBytes));
    }
    nodes.assign(addresses.size(), kUnknown);
    if (mover.places(addresses, nodes) != Access::granted) {
      return map;
    }
    PageMap::Range& range = map.ranges.emplace_back();
    range.start = mapping.start;
    range.name = mapping.name;
    for (const int node : nodes) {
      if (range.runs.empty() || range.runs.back().node != node) {
        range.runs.push_back({.node = node, .cells = 0});
      }
      ++range.runs.back().cells;
    }
  }
  return map;
}

}  // namespace memgraft::placement
