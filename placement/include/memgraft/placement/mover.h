// Moves pages of a running process, without stopping it, and keeps account of what the kernel answered.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "memgraft/linux/process_pages.h"
#include "memgraft/placement/policy.h"
#include "memgraft/placement/topology.h"

namespace memgraft::placement {

// What became of a page.
enum class Outcome : std::uint8_t {
  moved,
  busy,       // something holds it now (EBUSY): another time
  no_memory,  // its target is full
  absent,     // not present, or a hint fault is pending: may be moved when it is touched
  forbidden,  // another process has it too (EACCES), or the target is none of the process's
  other       // unmapped, or what the kernel says else
};
inline constexpr std::size_t kOutcomes = 6;

// Whether the process can be asked and moved at all.
enum class Access : std::uint8_t {
  granted,
  ended,   // there is no such process (any more)
  denied,  // not ours
  none     // the kernel has no move_pages, or a seccomp filter hides it
};

class Mover {
 public:
  Mover(pid_t process, const Topology& topology,
        linux_os::ProcessPages& pages = linux_os::ProcessPages::real())
      : process_(process), topology_(&topology), pages_(&pages) {}

  // The positions of the nodes of these pages: kUnknown where a page is not present or the kernel does not
  // tell. `nodes` has a place for each address.
  Access places(std::span<const std::uint64_t> addresses, std::span<int> nodes);

  // What became of each, in the order of `moves`. Stops, with kOther for the rest, where the process has
  // ended.
  Access move(std::span<const Move> moves, std::vector<Outcome>& outcomes);

  // Nodes without memory left for it, by position, since clear_full().
  [[nodiscard]] bool is_full(std::size_t node) const { return node < full_.size() && full_[node]; }
  void clear_full() { full_.clear(); }

  // Measured: CPU time of the calls for a page moved; `otherwise` until enough were.
  [[nodiscard]] double nanoseconds_per_page(double otherwise) const;

 private:
  void move_to(std::size_t node, std::span<const std::size_t> chosen, std::span<const Move> moves,
               std::vector<Outcome>& outcomes);
  Access move_batch(std::size_t node, std::span<const std::uint64_t> addresses, std::span<int> answers);
  Outcome outcome_of(int answer, std::size_t node);

  pid_t process_;
  const Topology* topology_;
  linux_os::ProcessPages* pages_;
  std::vector<bool> full_;
  Access access_ = Access::granted;
  unsigned extra_calls_ = 0;
  std::uint64_t moved_pages_ = 0;
  std::uint64_t moving_nanoseconds_ = 0;
};

}  // namespace memgraft::placement
