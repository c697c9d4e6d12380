// The zeroing graft: fresh TLABs are zeroed by a kernel of Memgraft's instead of libjvm's memset.
#pragma once

#include <cstdint>
#include <string_view>

#include "joints.h"
#include "memgraft/units.h"
#include "needs.h"
#include "options.h"
#include "patch.h"

namespace memgraft::hotspot {

extern const Needs kZeroingNeeds;

// Puts the replacements into `patch`; the caller keeps or undoes them. The joints must be kZeroingNeeds'
// ones.
void install_zeroing(ZeroingStrategy strategy, const Joints& joints, Patch& patch);

struct ZeroingCounts {
  std::string_view kernel;
  std::uint64_t tlabs = 0;
  // Handed out but not seen to be zeroed before the same thread asked for the next one: the stock's memset or
  // nothing cleared them, and the graft did not do its work there.
  std::uint64_t missed_tlabs = 0;
  Bytes bytes;
  double cycles = 0;
  double seconds = 0;
};
ZeroingCounts zeroing_counts();

}  // namespace memgraft::hotspot
