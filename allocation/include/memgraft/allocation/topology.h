// Which CPU belongs to which core, processor and node, as Linux tells (sysfs).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memgraft::allocation {

// From the nearest to a thread to the farthest.
enum class Kind : std::uint8_t {
  cpu,        // a hardware thread: what the scheduler calls a CPU
  core,       // the CPUs that share one
  processor,  // a package
  node        // of NUMA
};
inline constexpr std::array<std::string_view, 4> kKindNames{"cpu", "core", "processor", "node"};
constexpr std::string_view name_of(Kind kind) { return kKindNames.at(static_cast<std::size_t>(kind)); }

class Topology {
 public:
  // Of the possible CPUs. `root` is what /sys is looked for in; tests fake it. A file that is missing, as of
  // a CPU that is offline, puts its CPU with those of number 0. Throws std::bad_alloc only.
  static Topology of_system(const std::string& root = "");

  [[nodiscard]] std::size_t cpus() const { return places_.size(); }
  // How many there are of a kind, at least 1.
  [[nodiscard]] std::size_t count(Kind kind) const { return counts_.at(static_cast<std::size_t>(kind)); }
  // Counted from 0 without gaps, whatever the system's own numbers are; a CPU that is not known is taken for
  // the one of its number modulo cpus().
  [[nodiscard]] std::size_t index_of(Kind kind, std::size_t cpu) const {
    return places_.at(cpu % places_.size()).at(static_cast<std::size_t>(kind));
  }
  // The system's own numbers of the nodes that have CPUs, by index: what mbind(2) takes.
  [[nodiscard]] const std::vector<std::uint32_t>& node_numbers() const { return node_numbers_; }

 private:
  using Place = std::array<std::uint32_t, kKindNames.size()>;
  std::vector<Place> places_;
  std::array<std::size_t, kKindNames.size()> counts_{};
  std::vector<std::uint32_t> node_numbers_;
};

}  // namespace memgraft::allocation
