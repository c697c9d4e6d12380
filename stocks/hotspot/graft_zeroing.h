// The zeroing graft: fresh TLABs are zeroed by kernels of Memgraft's, when and where a strategy wants it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adaptive.h"
#include "epochs.h"
#include "joints.h"
#include "memgraft/units.h"
#include "options.h"
#include "patch.h"
#include "zeroing_needs.h"

namespace memgraft::hotspot {

// Finds every joint, then puts the replacements into `patch`; the caller keeps or undoes them. Throws a
// Refusal.
void install_zeroing(const ZeroingOptions& options, const Stock& stock, Collector collector, Patch& patch);

// Whether the JVM has to tell of its collections (JVM TI events GarbageCollectionStart and -Finish). G1 has
// collected young regions without ensure_parsability since JDK 18.
bool zeroing_follows_collections(const ZeroingOptions& options);
// What it tells, with the world stopped.
void zeroing_collection_starts();
void zeroing_collection_ended();

// Once installed, for a graft that comes between this one and HotSpot: the pointer through which this one
// calls what it replaced; null where it did not replace that.
std::uintptr_t* zeroing_calls(std::string_view method);
// Free memory that is about to be written to, as by a filler object: nobody zeroes it from now on.
void zeroing_leaves_alone(std::byte* start, std::size_t bytes);

struct ZeroingWork {
  Bytes bytes;
  double seconds = 0;
};

struct ZeroingCounts {
  std::string_view kernel;
  std::uint64_t tlabs = 0;
  // Handed out but not seen to be zeroed before the same thread asked for the next one: the stock's memset or
  // nothing cleared them, and the graft did not do its work there.
  std::uint64_t missed_tlabs = 0;
  double cycles = 0;  // on the allocating threads
  ZeroingWork by_threads;
  ZeroingWork by_helper;
  ZeroingWork in_pauses;
  Bytes fresh;  // never touched since the JVM started, so zero already
  std::uint64_t collections = 0;

  struct Windows {
    std::uint64_t handed_out = 0;
    Bytes given_up;  // chunks' rests that were filled at collections and for large objects
  };
  std::optional<Windows> windows;

  struct Helper {
    bool started = false;
    std::string reason;  // why it was not, or why its blocks cannot be stolen
    Bytes ready;         // zeroed ahead and then taken
    std::uint64_t waits = 0;
    double wait_seconds = 0;
    std::uint64_t steals = 0;
    double longest_close_seconds = 0;
  };
  std::optional<Helper> helper;

  [[nodiscard]] Bytes bytes() const { return by_threads.bytes + by_helper.bytes + in_pauses.bytes; }
  [[nodiscard]] double seconds() const { return by_threads.seconds + by_helper.seconds + in_pauses.seconds; }
};
// Memory of which TLABs will be handed out is made zero now, in the way that is in force.
void zeroing_clears(std::byte* start, std::size_t bytes);
// The TLAB that is being handed out to the calling thread was cleared in this way.
void zeroing_was_done();

ZeroingCounts zeroing_counts();

// The epochs of a comparison within this process, and what adaptive decided; nothing where neither was asked
// for.
const Epochs* zeroing_epochs();

}  // namespace memgraft::hotspot
