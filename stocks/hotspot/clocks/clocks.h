// How long a stretch of work took the thread that did it.
#pragma once

#include <atomic>
#include <cstdint>

#include "memgraft/units.h"

namespace memgraft::hotspot {

// The time-stamp counter on x86-64; elsewhere the monotonic clock in nanoseconds.
Cycles read_cycles();

// CPU time of the calling thread. A system call of some 200 ns.
Nanoseconds thread_cpu_time();

// Relates cycles to nanoseconds by looking at both clocks twice, as far apart as the program's life allows.
class CycleRate {
 public:
  CycleRate();
  // Cycles per nanosecond between construction and now.
  [[nodiscard]] double per_nanosecond() const;

 private:
  Cycles start_cycles_;
  Nanoseconds start_time_;
};

// Adds up CPU time spent in stretches of known size, by all threads.
//
// The time-stamp counter is cheap but runs on while a thread is preempted, which on an oversubscribed machine
// would be booked as work; the thread's CPU clock does not, but costs a system call. So long stretches are
// timed by the CPU clock, where the call is under a tenth of the stretch, and short ones by the counter,
// where preemption is as rare as the stretch is short but is still booked: for them the sum is an upper
// bound.
class WorkTimer {
 public:
  // 64 KiB: at the 10 to 30 GB/s of zeroing, 2 to 6 us, against 0.45 us for two readings of the CPU clock.
  static constexpr Bytes kLongStretch = Bytes(std::uint64_t{64} * 1024);

  template <typename Work>
  void time(Bytes size, Work work) {
    if (size >= kLongStretch) {
      const Nanoseconds start = thread_cpu_time();
      work();
      add(long_nanoseconds_, (thread_cpu_time() - start).count());
    } else {
      const Cycles start = read_cycles();
      work();
      add(short_cycles_, (read_cycles() - start).count());
    }
  }

  [[nodiscard]] double seconds(double cycles_per_nanosecond) const;
  [[nodiscard]] double cycles(double cycles_per_nanosecond) const;

 private:
  static void add(std::atomic<std::uint64_t>& sum, std::uint64_t value) {
    // Relaxed: the sums are statistics that order nothing else.
    sum.fetch_add(value, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> short_cycles_{0};
  std::atomic<std::uint64_t> long_nanoseconds_{0};
};

}  // namespace memgraft::hotspot
