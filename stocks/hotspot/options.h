// The agent's options: `-agentpath:LIBRARY=KEY=VALUE,KEY=VALUE`. docs/formats.md, section 1, lists them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memgraft/allocation/hierarchy.h"
#include "strategy.h"

namespace memgraft::hotspot {

// How fresh memory becomes zero.
struct ZeroingOptions {
  static constexpr std::size_t kDefaultWindowBytes = std::size_t{32} * 1024;

  ZeroingStrategy strategy = ZeroingStrategy::bulk;
  // The other side of a comparison within one process: the two alternate from collection to collection.
  std::optional<ZeroingStrategy> against;
  std::size_t window_bytes = kDefaultWindowBytes;
  std::optional<std::filesystem::path> table;  // what calibration found on this machine

  [[nodiscard]] bool uses(ZeroingStrategy wanted) const { return strategy == wanted || against == wanted; }

  friend bool operator==(const ZeroingOptions&, const ZeroingOptions&) = default;
};

// Which buffers stand between the heap and the TLABs.
struct BufferOptions {
  // How memory is taken from a buffer that is one CPU's alone.
  enum class Take : std::uint8_t { automatic, atomic, restartable };

  std::vector<allocation::Level> levels;  // lowest first
  bool automatic = false;                 // levels and sizes decide themselves
  bool zero_at_refill = false;            // instead of each TLAB when it is handed out
  bool numa_eden = false;                 // what they are filled with is bound to their node
  Take take = Take::automatic;

  friend bool operator==(const BufferOptions&, const BufferOptions&) = default;
};

// In which order other threads see accesses.
struct OrderingOptions {
  // What spares C2 fences and barriers. None of it is the dissertation's placement: a fence behind every
  // store.
  struct Savings {
    bool private_objects = false;  // none for what nobody else can have yet
    bool final_loads = false;      // none for what never changes
    bool last_fences = false;      // one for a run of stores
    bool all_fences = false;       // none at all: not sequentially consistent, to measure what fences cost

    friend bool operator==(const Savings&, const Savings&) = default;
  };

  std::string placement;
  Savings savings;
  // False: what would pass ordered accesses by is switched off, and no access is ordered. To measure what
  // that costs.
  bool accesses = true;
  // Check of every compiled method that nothing in it passed the graft by.
  bool check = false;
  std::optional<std::filesystem::path> relaxed;  // names what keeps the Java memory model

  friend bool operator==(const OrderingOptions&, const OrderingOptions&) = default;
};

struct Options {
  std::optional<ZeroingOptions> zeroing;
  std::optional<OrderingOptions> ordering;
  std::optional<BufferOptions> buffers;
  std::optional<std::filesystem::path> summary_folder;
  bool counters = false;  // count what the hardware can, for the summary
  bool live = false;      // write the summary again after collections, for who watches
  bool check = false;

  friend bool operator==(const Options&, const Options&) = default;
};

// Throws a Refusal with exit code 2 for anything it does not know, and for options that ask for nothing.
Options parse_options(std::string_view text);

}  // namespace memgraft::hotspot
