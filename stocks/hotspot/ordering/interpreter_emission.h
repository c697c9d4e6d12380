// Watching HotSpot generate its interpreter: whether each store of a template ends with a fence. That no
// store passes by what is watched is checked in the machine code of every supported JDK
// (tests/x86_fences.py).
#pragma once

#include <cstdint>

#include "join/joints.h"
#include "join/patch.h"

namespace memgraft::hotspot {

// From here on stores are checked; to be called after the ordering graft put its replacements into `patch`,
// upon which this stands. `joints` are the graft's, found before.
void install_interpreter_emission(const Joints& joints, Patch& patch);

struct InterpreterEmissionCounts {
  std::uint64_t stores = 0;  // places in templates
  std::uint64_t unsafe = 0;  // of these, without a fence behind them
};
InterpreterEmissionCounts interpreter_emission_counts();

}  // namespace memgraft::hotspot
