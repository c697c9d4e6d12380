// The buffers graft at work: allocation buffers of CPUs, cores, processors and nodes between HotSpot's heap
// and its TLABs.
#pragma once

#include <cstdint>
#include <vector>

#include "buffers/numa_eden.h"
#include "buffers/options.h"
#include "join/joints.h"
#include "join/patch.h"
#include "join/refusal.h"
#include "memgraft/allocation/auto_size.h"
#include "memgraft/allocation/hierarchy.h"
#include "memgraft/units.h"

namespace memgraft::hotspot {

// Finds every joint. Throws a Refusal. To be called before another graft changes anything.
Joints find_buffer_joints(const BufferOptions& options, const Stock& stock, Collector collector);

// Puts the replacements into `patch`; the caller keeps or undoes them. With `zeroing` installed before, they
// come between it and HotSpot, so that what a thread is handed from a buffer is zeroed like any TLAB.
void install_buffers(const BufferOptions& options, const Stock& stock, Collector collector,
                     const Joints& joints, bool zeroing, LateRefusal refuse_late, Patch& patch);

// The JVM tells of a collection (JVM TI event GarbageCollectionStart), with the world stopped.
void buffers_collection_starts();

// How long requests took, in nanoseconds, without the readings of the clock: the quantiles of a histogram
// whose classes are an eighth apart.
struct Latencies {
  std::uint64_t requests = 0;
  double median = 0;
  double p99 = 0;
  double highest = 0;
};

struct BufferCounts {
  struct OfLevel {
    allocation::Level level;
    Words asked_words = 0_words;  // of each buffer; fewer where G1's regions cannot hold so many
    std::size_t buffers = 0;
    bool restartable = false;
    allocation::LevelCounts counts;
    Latencies latencies;  // of requests that this level served, but for those that refilled a buffer first
  };
  std::vector<OfLevel> levels;
  std::uint64_t heap_requests = 0;                   // that no buffer could serve
  Latencies heap_latencies;                          // of these
  Latencies refill_latencies;                        // of those that refilled a buffer first
  double clock_nanoseconds = 0;                      // what was taken off
  std::uint64_t collections = 0;                     // that the JVM told of
  std::vector<allocation::AutoSize::OfLevel> sizes;  // only where they decide themselves; the TLABs' first
  NumaCounts numa;
};
BufferCounts buffer_counts();

}  // namespace memgraft::hotspot
