// Which grafts this agent has.
#pragma once

#include "join/graft.h"

namespace memgraft::hotspot {

// All of them, one each, in the order in which they join.
Grafts all_grafts();

}  // namespace memgraft::hotspot
