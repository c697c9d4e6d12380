// Where code of C2 is left for the interpreter, in the middle of a method.
#pragma once

#include "join/patch.h"
#include "join/stock.h"

namespace memgraft::hotspot::c2 {

// Puts a full fence there, so that C2's code needs none before. Throws where an entry is not as it was
// checked.
void fence_exits(const Stock& stock, Patch& patch);

}  // namespace memgraft::hotspot::c2
