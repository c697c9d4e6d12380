// The table of the best kernels in memory, and the reading of its text (docs/formats.md, "The table of the
// best kernels").
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

#include "memgraft/zeroing.h"

namespace memgraft::zeroing {

// The modes of the benchmark, in the order of memgraft_zero_use: what each use is called in tables.
inline constexpr std::array<std::string_view, 4> kModeNames = {"resident", "streaming", "streaming-late",
                                                               "streaming-used"};
static_assert(kModeNames.size() == MEMGRAFT_ZERO_USED_SOON + 1);

// How many numbers of threads a mode may have rows for.
inline constexpr std::size_t kMostGroups = 8;

// The kernels of one mode at one number of threads, by the magnitude of the block: entry `bit_width(bytes)`.
struct Group {
  unsigned threads = 1;
  unsigned most_threads = std::numeric_limits<unsigned>::max();  // asked for with more: the next group
  std::array<const memgraft_zero_kernel*, std::numeric_limits<std::size_t>::digits + 1> best{};
};

// Never empty: without rows of its own, one group of defaults for any number of threads.
struct Mode {
  std::size_t count = 1;
  std::array<Group, kMostGroups> groups{};
};

struct Table {
  std::array<Mode, kModeNames.size()> modes{};

  [[nodiscard]] const memgraft_zero_kernel* best(std::size_t mode, std::size_t bytes,
                                                 unsigned threads) const {
    const Group* group = modes[mode].groups.data();
    while (threads > group->most_threads) {
      ++group;  // the last one's most_threads is the greatest number there is
    }
    return group->best[static_cast<std::size_t>(std::bit_width(bytes))];
  }
};

// What is wrong with a table, for one line of an error message.
struct TableError {
  std::size_t line = 0;             // counted from 1; 0: the whole file
  std::array<char, 400> message{};  // what was found and what was expected, NUL-terminated
};

// Reads the text of a table for the CPU called `cpu` over `table`, which holds the defaults and keeps them
// for the modes that the text does not name. False: `error` says why, and `table` is not to be used.
bool read_table(std::string_view text, std::string_view cpu, std::span<const memgraft_zero_kernel> kernels,
                Table& table, TableError& error);

}  // namespace memgraft::zeroing
