// The memory that the sampler inside a program shares with the process that asked for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mailboxes.h"

namespace memgraft::observation {

// The file descriptor of this memory, for the program that is to be sampled.
inline constexpr char kRingVariable[] = "MEMGRAFT_SAMPLER_RING";
inline constexpr std::uint64_t kRingMagic = 0x3172656c706d6153;  // "Sampler1", in memory

// What became of the sampler.
enum class Standing : std::uint32_t {  // NOLINT(performance-enum-size): its word is shared
  waiting,  // not loaded: it never will be where the program is linked statically or gets privileges
  sampling,
  idle,          // nothing large enough to be sampled
  stopped,       // as it was told, or the program ended
  jvm,           // HotSpot uses SIGSEGV itself
  replaced,      // something took SIGSEGV from it without calling sigaction
  many_threads,  // more stacks, or pages with futexes, than it has places for
  no_thread,     // it could not begin
  fault,         // the program's own SIGSEGV, which ends a program as a rule
};

struct ProcessAtomics {
  using Atomic = std::atomic<Word>;
  static constexpr std::size_t kBoxes = 8192;  // at the default rate, what is seen in five seconds
  static constexpr unsigned kProbes = 8;
};
static_assert(std::atomic<Word>::is_always_lock_free, "shared between processes");

inline constexpr std::size_t kMostApart = 512;  // at once: each takes its place for a round

struct Shared {
  std::uint64_t magic = kRingMagic;
  std::uint64_t bytes = sizeof(Shared);
  // Written by the asking process.
  std::atomic<std::uint32_t> pages_per_second{0};
  std::atomic<std::uint32_t> stop{0};
  std::atomic<std::uint64_t> alive_nanoseconds{0};  // when it last read: nothing is sampled for nobody
  std::atomic<std::uint64_t> least_mapping_bytes{0};
  std::atomic<std::uint32_t> with_brk{0};
  std::atomic<std::uint32_t> cpu_millionths{0};  // of one CPU, what sampling may cost
  // Addresses of blocks that Linux is not to join to a huge page, which has one node. 0: no address; the
  // asking process fills a place, the program empties it.
  std::atomic<std::uint64_t> apart[kMostApart]{};
  // Written by the program.
  std::atomic<std::uint32_t> claimed_by{0};  // process
  std::atomic<std::uint32_t> standing{0};
  std::atomic<std::uint64_t> protections{0};      // pages
  std::atomic<std::uint64_t> cpu_nanoseconds{0};  // of the sampling thread, and of all threads for touches
  // Large enough: what is chosen from, and what is not because it may be a stack (README.md).
  std::atomic<std::uint64_t> candidate_bytes{0};
  std::atomic<std::uint64_t> left_out_bytes{0};
  // malloc's, in small pieces, or in more pieces than there are places for.
  std::atomic<std::uint64_t> small_bytes{0};
  // Of Standing::fault: siginfo_t's si_code, and its address.
  std::atomic<std::int32_t> fault_code{0};
  std::atomic<std::uint64_t> fault_address{0};
  Mailboxes<ProcessAtomics> touches;
};

// Who touched a page, and for how long it had been guarded by then: the latter in microseconds, rounded down
// to a power of two. The kernel's numbers of threads have 22 bits, those of CPUs 13.
struct Toucher {
  std::uint32_t thread = 0;
  std::uint32_t cpu = 0;
  bool knows_store = false;
  bool store = false;
  std::uint64_t watched_nanoseconds = 0;
};

constexpr Word touched_by(const Toucher& who) {
  const auto bits = static_cast<Word>(std::bit_width(who.watched_nanoseconds / 1000));
  return who.thread | (static_cast<Word>(who.cpu & 0xffffffU) << 32U) | (bits << 56U) |
         (static_cast<Word>(who.knows_store) << 62U) | (static_cast<Word>(who.store) << 63U);
}

constexpr Toucher toucher_in(Word who) {
  constexpr unsigned kMostBits = 40;  // 12 days
  const unsigned bits = std::min(static_cast<unsigned>(who >> 56U) & 0x3fU, kMostBits);
  return {.thread = static_cast<std::uint32_t>(who),
          .cpu = static_cast<std::uint32_t>(who >> 32U) & 0xffffffU,
          .knows_store = ((who >> 62U) & 1U) != 0,
          .store = (who >> 63U) != 0,
          .watched_nanoseconds = bits == 0 ? 0 : (std::uint64_t{1} << (bits - 1)) * 1000};
}

}  // namespace memgraft::observation
