// Watching C1 emit code, for c1_check: the operations of its last form of a method (LIR), which emit
// themselves through a virtual method.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "join/joints.h"
#include "join/needs.h"
#include "join/patch.h"
#include "join/stock.h"

namespace memgraft::hotspot::c1 {

// What watching needs of HotSpot, JDK by JDK.
extern const Needs kEmissionNeeds17;
extern const Needs kEmissionNeeds21;
extern const Needs kEmissionNeeds25;

const Needs& emission_needs(const Stock& stock);

// From here on C1's methods are checked. To be called after the ordering graft put its replacements into
// `patch`, upon which these stand; `joints` were found before.
void install_emission(const Joints& joints, const Stock& stock, Patch& patch);

struct EmissionCounts {
  std::uint64_t methods = 0;  // compilations that came as far as emitting code
  std::uint64_t stores = 0;
  std::uint64_t own = 0;
  std::uint64_t unsafe = 0;
  std::vector<std::string> unsafe_methods;  // the first of them
};
EmissionCounts emission_counts();

}  // namespace memgraft::hotspot::c1
