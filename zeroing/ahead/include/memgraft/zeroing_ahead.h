// Concurrent zeroing: one helper thread zeroes a nursery ahead of the threads that allocate from it. An
// allocating thread whose memory is not ready zeroes it itself instead of waiting for the helper (Yang,
// "Locality Aware Zeroing: Exploiting Both Hardware and Software Semantics", ANU 2011, section 3.4 and the
// future work of section 6.1).
//
// The nursery's free part is divided into blocks. Each is dirty, being zeroed, zeroed, or taken, in one
// atomic word; protocol.h says who may change what, and why the helper never writes to memory that was handed
// out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "memgraft/units.h"

namespace memgraft::zeroing {

class ZeroingAhead {
 public:
  using Zero = void (*)(void* memory, std::size_t bytes);

  struct Settings {
    // What the helper zeroes with where it cannot use restartable sequences. Where it can (x86-64,
    // Linux 5.10, glibc 2.35), it has a loop of non-temporal stores of its own, since a call cannot be
    // restarted.
    Zero zero_ahead = nullptr;
    // What an allocating thread zeroes with.
    Zero zero_now = nullptr;
    // A power of two, at least 4096.
    std::size_t block_bytes = std::size_t{64} << 10;
    // Take the helper's block away from it at once, wherever the helper is. Otherwise, and where the system
    // cannot, who meets the helper's block waits until the helper has seen that and let go of it.
    bool may_steal = true;
  };

  // What take() found.
  struct Taken {
    Bytes ready;         // zeroed ahead
    Bytes zeroed;        // by this call
    Nanoseconds waited;  // for the helper to let go of a block; 0 when stolen
  };

  struct Counts {
    Bytes zeroed_ahead;  // by the helper, in blocks that it finished
    Bytes taken_ready;
    Bytes zeroed_now;                  // by allocating threads
    std::uint64_t overtaken = 0;       // times that the helper met a block that was somebody's
    std::uint64_t blocks_skipped = 0;  // how many it left out then, beyond those, perhaps to come back later
    std::uint64_t steals = 0;          // blocks taken from the helper in mid-block, by take() or exclude()
    Nanoseconds steal_time;            // of who stole, until the helper was known to have let go
    std::uint64_t waits = 0;           // times that somebody waited for the helper, close() included
    Nanoseconds wait_time;
    Nanoseconds helper_cpu_time;  // of the helper's thread, all it did
    Cycles helper_cycles;         // between the start and the end of each block, preemption included
    std::uint64_t opens = 0;
    std::uint64_t closes = 0;
    std::uint64_t closes_in_block = 0;  // closes that met the helper in a block
    Nanoseconds longest_close;
  };

  // Starts no thread yet: until start(), allocating threads zero for themselves.
  explicit ZeroingAhead(const Settings& settings);
  // Stops the helper. No other call may be under way.
  ~ZeroingAhead();
  ZeroingAhead(const ZeroingAhead&) = delete;
  ZeroingAhead& operator=(const ZeroingAhead&) = delete;
  ZeroingAhead(ZeroingAhead&&) = delete;
  ZeroingAhead& operator=(ZeroingAhead&&) = delete;

  // Starts the helper: a thread named "memgraft-zero" with every signal blocked. False where the system
  // refuses, and `reason` says what: everything works nevertheless, without the helper. Once per object.
  bool start(std::string& reason);

  // Whether a block in progress can be taken from the helper without waiting for it. Known after start();
  // `why_not` says in one line why it cannot.
  [[nodiscard]] bool can_steal(std::string& why_not) const;

  // With the allocating threads stopped, at the end of a collection: the free part of the nursery, contents
  // unknown. Each byte of it may be taken once until the next close(), and it must stay mapped until then.
  // Up to 63 bytes at either end that share a cache line with a neighbour are left to take().
  void open(std::span<std::byte> region);

  // With the allocating threads stopped, before a collection: when it returns, the helper writes nothing
  // until the next open(). Never waits for a block to be finished.
  void close();

  // By the thread that was handed [start, start + bytes), or on its behalf: afterwards it is all zero, and
  // the helper will never write to it. Memory outside the open region is zeroed by this call.
  Taken take(std::byte* start, std::size_t bytes);

  // The same for memory that somebody else clears: it may contain anything afterwards.
  void exclude(std::byte* start, std::size_t bytes);

  // At any time, from any thread: each count is exact, but they are not read at one instant.
  [[nodiscard]] Counts counts() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace memgraft::zeroing
