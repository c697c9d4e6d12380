// On which node each page of a program lies, as a picture: a cell a page, or a cell for so many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "memgraft/placement/mappings.h"
#include "memgraft/placement/mover.h"

namespace memgraft::placement {

struct PageMap {
  struct Run {
    int node = kUnknown;  // position
    std::uint64_t cells = 0;
  };
  struct Range {
    std::uint64_t start = 0;
    std::string name;
    std::vector<Run> runs;
  };
  std::uint64_t cell_pages = 1;  // each cell is the node of the first page of so many
  std::vector<Range> ranges;
};

inline constexpr std::uint64_t kMostCells = 65536;

// Of the mappings that hold data. With more pages than `most_cells` a cell is a power of 2 of them; each
// mapping has one cell at least.
PageMap map_of_pages(const Mappings& mappings, Mover& mover, std::uint64_t most_cells = kMostCells);

}  // namespace memgraft::placement
