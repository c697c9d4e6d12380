#include "memgraft/allocation/topology.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>

namespace memgraft::allocation {

namespace {

std::string line_of(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// `0-3,8,10-11` (Documentation/admin-guide/cputopology.rst); what is no such list is empty.
std::vector<std::uint32_t> numbers(std::string_view list) {
  constexpr std::uint32_t kMost = 1U << 16U;
  std::vector<std::uint32_t> found;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(part.size() + 1, list.size()));
    const std::size_t dash = part.find('-');
    const auto first = number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kMost) {
      return {};
    }
    for (std::uint32_t value = *first; value <= *last; ++value) {
      found.push_back(value);
    }
  }
  return found;
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
  for (const std::uint32_t node : numbers(line_of(system + "node/online"))) {
    for (const std::uint32_t cpu :
         numbers(line_of(system + "node/node" + std::to_string(node) + "/cpulist"))) {
      node_of[cpu] = node;
    }
  }
  std::vector<std::uint32_t> cpus = numbers(line_of(system + "cpu/possible"));
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
