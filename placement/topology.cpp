#include "memgraft/placement/topology.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

#include "memgraft/linux/number_list.h"

namespace memgraft::placement {

using linux_os::numbers_of_list;

namespace {

constexpr unsigned kLocalDistance = 10;
constexpr unsigned kRemoteDistance =
    20;  // what Linux assumes where the firmware has no SLIT (REMOTE_DISTANCE)
constexpr std::uint64_t kBytesPerKibibyte = 1024;

std::string line_of(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string folder_of(const std::string& root, unsigned node) {
  return root + "/sys/devices/system/node/node" + std::to_string(node);
}

// `Node 0 MemTotal:  1024 kB`, in bytes; 0 where there is no such line.
std::uint64_t of_meminfo(const std::string& root, unsigned node, std::string_view field) {
  std::ifstream in(folder_of(root, node) + "/meminfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t found = line.find(field);
    if (found != std::string::npos) {
      std::istringstream rest(line.substr(found + field.size()));
      std::uint64_t kibibytes = 0;
      rest >> kibibytes;
      return kibibytes * kBytesPerKibibyte;
    }
  }
  return 0;
}

// By the numbers of `online`, all of which have an entry in the line.
std::vector<unsigned> distances_of(const std::string& root, unsigned node) {
  std::istringstream line(line_of(folder_of(root, node) + "/distance"));
  std::vector<unsigned> distances;
  for (unsigned distance = 0; line >> distance;) {
    distances.push_back(distance);
  }
  return distances;
}

Node whole_machine(const std::string& root) {
  Node node;
  node.cpus = numbers_of_list(line_of(root + "/sys/devices/system/cpu/online"));
  if (node.cpus.empty()) {
    node.cpus = {0};
  }
  node.distances = {kLocalDistance};
  return node;
}

}  // namespace

Topology Topology::of_system(const std::string& root) {
  Topology topology;
  const std::vector<unsigned> online = numbers_of_list(line_of(root + "/sys/devices/system/node/online"));
  std::vector<std::size_t> kept;  // positions in `online`
  for (std::size_t place = 0; place < online.size(); ++place) {
    Node node;
    node.number = online[place];
    node.cpus = numbers_of_list(line_of(folder_of(root, node.number) + "/cpulist"));
    node.memory_bytes = of_meminfo(root, node.number, "MemTotal:");
    if (!node.cpus.empty() || node.memory_bytes > 0) {
      kept.push_back(place);
      topology.nodes_.push_back(std::move(node));
    }
  }
  for (Node& node : topology.nodes_) {
    const std::vector<unsigned> all = distances_of(root, node.number);
    for (std::size_t other = 0; other < kept.size(); ++other) {
      const unsigned assumed =
          topology.nodes_[other].number == node.number ? kLocalDistance : kRemoteDistance;
      // The file has a distance for every online node; anything else is not understood.
      node.distances.push_back(all.size() == online.size() ? all[kept[other]] : assumed);
    }
  }
  if (topology.nodes_.empty()) {
    topology.nodes_.push_back(whole_machine(root));
  }
  for (std::size_t place = 0; place < topology.nodes_.size(); ++place) {
    for (const unsigned cpu : topology.nodes_[place].cpus) {
      topology.node_of_cpu_.resize(std::max<std::size_t>(topology.node_of_cpu_.size(), cpu + std::size_t{1}),
                                   -1);
      topology.node_of_cpu_[cpu] = static_cast<int>(place);
    }
  }
  return topology;
}

std::optional<std::size_t> Topology::position(unsigned number) const {
  const auto found = std::ranges::find(nodes_, number, &Node::number);
  return found == nodes_.end() ? std::nullopt
                               : std::optional(static_cast<std::size_t>(found - nodes_.begin()));
}

std::optional<std::size_t> Topology::node_of_cpu(unsigned cpu) const {
  if (cpu >= node_of_cpu_.size() || node_of_cpu_[cpu] < 0) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(node_of_cpu_[cpu]);
}

std::vector<bool> allowed_nodes(const Topology& topology, pid_t process, const std::string& root) {
  constexpr std::string_view kField = "Mems_allowed_list:";
  std::ifstream in(root + "/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kField)) {
      continue;
    }
    const std::size_t start = line.find_first_not_of(" \t", kField.size());
    std::vector<bool> allowed(topology.size(), false);
    for (const unsigned node : numbers_of_list(start == std::string::npos ? "" : line.substr(start))) {
      if (const auto place = topology.position(node)) {
        allowed[*place] = true;
      }
    }
    return allowed;
  }
  return std::vector<bool>(topology.size(), true);
}

std::vector<std::uint64_t> free_bytes(const Topology& topology, const std::string& root) {
  std::vector<std::uint64_t> free;
  for (const Node& node : topology.nodes()) {
    free.push_back(of_meminfo(root, node.number, "MemFree:"));
  }
  return free;
}

}  // namespace memgraft::placement
