// The ways of zeroing that join HotSpot. Its own, on the hot path, needs no agent.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace memgraft::hotspot {

enum class ZeroingStrategy : std::uint8_t {
  bulk,          // a TLAB at a time, ordinary stores (Yang, "Locality Aware Zeroing", ANU 2011, section 3.2)
  non_temporal,  // a TLAB at a time, past the caches (section 3.3)
  windows,       // a small window of the TLAB at a time, ordinary stores
  concurrent,    // a helper thread ahead of the allocating ones (section 3.4)
  mixed,         // the same but for its first window: an instrument, see docs/zeroing.md
  pause,         // all that is free, within each collection's pause: an instrument, see docs/zeroing.md
  adaptive,      // decided after each collection (section 3.5)
};

struct StrategyName {
  ZeroingStrategy strategy;
  std::string_view name;
};

inline constexpr std::array<StrategyName, 7> kStrategyNames{{
    {.strategy = ZeroingStrategy::bulk, .name = "bulk"},
    {.strategy = ZeroingStrategy::non_temporal, .name = "non-temporal"},
    {.strategy = ZeroingStrategy::windows, .name = "windows"},
    {.strategy = ZeroingStrategy::concurrent, .name = "concurrent"},
    {.strategy = ZeroingStrategy::mixed, .name = "mixed"},
    {.strategy = ZeroingStrategy::pause, .name = "pause"},
    {.strategy = ZeroingStrategy::adaptive, .name = "adaptive"},
}};

constexpr std::string_view name_of(ZeroingStrategy strategy) {
  return kStrategyNames.at(static_cast<std::size_t>(strategy)).name;
}

}  // namespace memgraft::hotspot
