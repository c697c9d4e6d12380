// What the zeroing graft needs of HotSpot, and the names by which its joints are asked for.
#pragma once

#include <string_view>

#include "join/needs.h"

namespace memgraft::hotspot {

// What every strategy needs; what handing out windows needs besides; what zeroing a nursery ahead of its use
// needs besides.
extern const Needs kZeroingNeeds;
extern const Needs kWindowNeeds;
extern const Needs kAheadNeeds;

inline constexpr std::string_view kMemset = "memset";

}  // namespace memgraft::hotspot
