// The zeroing graft at work: fresh TLABs are zeroed by kernels of Memgraft's, when and where a strategy wants
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "join/joints.h"
#include "join/patch.h"
#include "memgraft/units.h"
#include "zeroing/adaptive.h"
#include "zeroing/epochs.h"
#include "zeroing/options.h"

namespace memgraft::hotspot {

// What it joins, depending on the strategies that are asked for.
struct ZeroingJoints {
  Collector collector = Collector::serial;
  Joints all;
  std::optional<Joints> windows;
  std::optional<Joints> ahead;
};

// Chooses kernels and finds every joint. Throws a Refusal. Changes nothing in the JVM.
ZeroingJoints prepare_zeroing(const ZeroingOptions& options, const Stock& stock);
// Puts the replacements into `patch`; the caller keeps or undoes them.
void install_zeroing(const ZeroingOptions& options, const ZeroingJoints& joints, Patch& patch);

// Whether the JVM has to tell of its collections (JVM TI events GarbageCollectionStart and -Finish). G1 has
// collected young regions without ensure_parsability since JDK 18.
bool zeroing_follows_collections(const ZeroingOptions& options);
// What it tells, with the world stopped.
void zeroing_collection_starts();
void zeroing_collection_ended();

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
ZeroingCounts zeroing_counts();

// The epochs of a comparison within this process, and what adaptive decided; nothing where neither was asked
// for.
const Epochs* zeroing_epochs();

}  // namespace memgraft::hotspot
