// On which NUMA node memory lies, and on which it should: move_pages(2) and mbind(2), without libnuma.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace memgraft::linux_os {

// Of some pages of a range, evenly spread over it.
struct PagePlaces {
  static constexpr std::size_t kMost = 64;

  std::array<int, kMost> nodes{};  // the kernel's numbers; negative: the page is not there (yet)
  std::size_t asked = 0;           // so many of them
  int error = 0;                   // errno; then nothing was asked

  [[nodiscard]] std::span<const int> seen() const { return std::span(nodes).first(asked); }
};

// Only the pages that lie in a range as a whole are meant. The system calls are virtual, so that tests can be
// a machine with nodes.
class NumaMemory {
 public:
  NumaMemory() = default;
  virtual ~NumaMemory() = default;
  NumaMemory(const NumaMemory&) = delete;
  NumaMemory& operator=(const NumaMemory&) = delete;
  NumaMemory(NumaMemory&&) = delete;
  NumaMemory& operator=(NumaMemory&&) = delete;

  virtual PagePlaces places(const std::byte* start, std::size_t bytes) noexcept;

  // Pages that are touched for the first time from now on come from this node, or from another where it has
  // none left: MPOL_PREFERRED, as libnuma's numa_tonode_memory() and so HotSpot's own -XX:+UseNUMA. (With
  // MPOL_BIND a full node would wake the OOM killer.) `anew`: those that are there are given back, and their
  // contents are lost. Locked ones, and those of files, shared memory and hugetlbfs, are moved instead, which
  // waits for every CPU (lru_cache_disable() in do_mbind(), mm/mempolicy.c, since Linux 5.14). Transparent
  // huge pages do not reach over the range's ends from then on. 0 or errno: ENOMEM where the process would
  // have too many mappings (vm.max_map_count), EPERM where a container's seccomp filter forbids it.
  virtual int prefer(std::byte* start, std::size_t bytes, unsigned node, bool anew) noexcept;

  // That of the kernel.
  static NumaMemory& real();
};

}  // namespace memgraft::linux_os
