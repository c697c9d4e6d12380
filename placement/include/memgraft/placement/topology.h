// The nodes of this machine: which CPUs and how much memory each has, and how far they are from each other.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memgraft::placement {

struct Node {
  unsigned number = 0;             // the kernel's; there may be gaps
  std::vector<unsigned> cpus;      // that are online; empty: memory only, as CXL memory is
  std::uint64_t memory_bytes = 0;  // 0: CPUs only
  std::vector<unsigned>
      distances;  // to every node, by position; 10 is local (ACPI 6.5, section 5.2.17, SLIT)
};

// Nodes are meant by their position in nodes() wherever it does not say otherwise.
class Topology {
 public:
  // The online nodes that have CPUs or memory. `root` is what /sys is looked for in; tests fake it. Without
  // sysfs, or on a kernel without NUMA: one node that has all CPUs.
  static Topology of_system(const std::string& root = "");

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] std::optional<std::size_t> position(unsigned number) const;
  // nullopt: an offline or unknown CPU.
  [[nodiscard]] std::optional<std::size_t> node_of_cpu(unsigned cpu) const;

 private:
  std::vector<Node> nodes_;
  std::vector<int> node_of_cpu_;  // by CPU; -1: none
};

// Nodes from which the process may have memory now, by position: Mems_allowed_list of its status, in which
// cpusets are already taken into account. All of them where the kernel does not tell.
std::vector<bool> allowed_nodes(const Topology& topology, pid_t process, const std::string& root = "");

// Bytes that are free on each node now, by position; 0 where the kernel does not tell.
std::vector<std::uint64_t> free_bytes(const Topology& topology, const std::string& root = "");

}  // namespace memgraft::placement
