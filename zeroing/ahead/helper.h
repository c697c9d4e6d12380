// The helper: a thread that sleeps until a region is open, and then zeroes its blocks from the lowest address
// up.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "machine.h"
#include "protocol.h"

namespace memgraft::zeroing::ahead {

// What helper, allocating threads and whoever opens and closes share, all zero in a forked child. Each on
// its own cache line: the helper changes `work` at every block, while the others only read theirs.
struct Control {
  alignas(64) std::atomic<Value> work{0};
  // What is open for allocating threads; 0: nothing.
  alignas(64) std::atomic<Generation> generation{0};
  std::atomic<bool> helper_runs{false};
  // Where the region lies. Atomic, since a helper that slept may look while it is being changed.
  std::atomic<std::byte*> begin{nullptr};
  std::atomic<std::byte*> end{nullptr};
  std::atomic<std::atomic<Value>*> blocks{nullptr};
  // Changes whenever the helper has to look.
  alignas(64) std::atomic<std::uint32_t> wake{0};
  std::atomic<bool> stop{false};
};

// Written by the helper alone.
struct HelperCounts {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> blocks_skipped{0};
  std::atomic<std::uint64_t> overtaken{0};
  std::atomic<std::uint64_t> cycles{0};
};

class Helper {
 public:
  Helper(Control& control, Machine& machine, unsigned block_shift)
      : control_(control), machine_(machine), protocol_(machine, control.work), block_shift_(block_shift) {}

  // Starts the thread; 0 or an error number.
  int start();
  // Ends it, after close().
  void stop();

  [[nodiscard]] const HelperCounts& counts() const { return counts_; }
  // Of the running thread, in nanoseconds; 0 where it cannot be read.
  [[nodiscard]] std::uint64_t cpu_time() const;

 private:
  static void* run(void* helper);
  void run();
  void zero_region(Generation generation);
  bool pass(const Region& region, Generation generation);
  Helped zero_block(const Region& region, Generation generation, std::size_t index);
  std::size_t leave_to_takers(const Region& region, Generation generation, std::size_t index);

  Control& control_;
  Machine& machine_;
  Protocol<Machine> protocol_;
  unsigned block_shift_;
  std::size_t lead_ = 1;
  HelperCounts counts_;
  pthread_t thread_{};
};

}  // namespace memgraft::zeroing::ahead
