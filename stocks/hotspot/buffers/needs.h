// What the buffers graft needs of HotSpot.
#pragma once

#include <string_view>

#include "join/needs.h"

namespace memgraft::hotspot {

extern const Needs kBufferNeeds;

// With G1: the size of its regions, which no buffer may outgrow.
inline constexpr std::string_view kRegionFlag = "G1HeapRegionSize";

}  // namespace memgraft::hotspot
