#include "memgraft/allocation/topology.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "memgraft/linux/number_list.h"

namespace memgraft::allocation {

using linux_os::numbers_of_list;

namespace {

std::string line_of(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// Gives whatever it is asked for a number of its own, from 0.
class Numbering {
 public:
  std::uint32_t of(const std::string& what) {
    return known_.emplace(what, static_cast<std::uint32_t>(known_.size())).first->second;
  }
  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  std::map<std::string, std::uint32_t> known_;
};

}  // namespace

Topology Topology::of_system(const std::string& root) {
  const std::string system = root + "/sys/devices/system/";
  std::map<std::uint32_t, std::uint32_t> node_of;
  for (const std::uint32_t node : numbers_of_list(line_of(system + "node/online"))) {
    for (const std::uint32_t cpu :
         numbers_of_list(line_of(system + "node/node" + std::to_string(node) + "/cpulist"))) {
      node_of[cpu] = node;
    }
  }
  std::vector<std::uint32_t> cpus = numbers_of_list(line_of(system + "cpu/possible"));
  const std::size_t count = cpus.empty() ? 1 : cpus.back() + std::size_t{1};
  Topology topology;
  std::array<Numbering, kKindNames.size()> numberings;
  for (std::size_t cpu = 0; cpu < count; ++cpu) {
    const std::string here = system + "cpu/cpu" + std::to_string(cpu) + "/topology/";
    const std::string package = line_of(here + "physical_package_id");
    const auto known = node_of.find(static_cast<std::uint32_t>(cpu));
    const std::uint32_t node = known == node_of.end() ? 0 : known->second;
    // A core's number is its own within its package only.
    const std::array<std::string, kKindNames.size()> names{
        std::to_string(cpu), package + "/" + line_of(here + "core_id"), package, std::to_string(node)};
    Place& place = topology.places_.emplace_back();
    for (std::size_t kind = 0; kind < names.size(); ++kind) {
      place.at(kind) = numberings.at(kind).of(names.at(kind));
    }
    if (topology.node_numbers_.size() < numberings.back().size()) {
      topology.node_numbers_.push_back(node);
    }
  }
  for (std::size_t kind = 0; kind < numberings.size(); ++kind) {
    topology.counts_.at(kind) = numberings.at(kind).size();
  }
  return topology;
}

}  // namespace memgraft::allocation
