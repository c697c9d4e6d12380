// What the buffers graft needs of HotSpot.
#pragma once

#include <string_view>

#include "join/needs.h"

namespace memgraft::hotspot {

extern const Needs kBufferNeeds;
// Of buffers that hand out objects, in a JVM that has no TLABs.
extern const Needs kObjectBufferNeeds;

// With G1: the size of its regions, which no buffer may outgrow.
inline constexpr std::string_view kRegionFlag = "G1HeapRegionSize";

}  // namespace memgraft::hotspot
