#include "memgraft/placement/binding.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "memgraft/linux/threads_of.h"

namespace memgraft::placement {

namespace {

std::vector<unsigned> round_robin(const Topology& topology) {
  std::vector<unsigned> order;
  std::size_t most = 0;
  for (const Node& node : topology.nodes()) {
    most = std::max(most, node.cpus.size());
  }
  for (std::size_t round = 0; round < most; ++round) {
    for (const Node& node : topology.nodes()) {
      if (round < node.cpus.size()) {
        order.push_back(node.cpus[round]);
      }
    }
  }
  return order;
}

// The sampler of faults-in-process, which touches none of the program's pages, would take a CPU from a
// thread.
bool is_sampler(pid_t process, pid_t thread) {
  std::ifstream file("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/comm");
  std::string name;
  return std::getline(file, name) && name == "memgraft-sample";
}

}  // namespace

Binding::Binding(pid_t process, const Topology& topology)
    : process_(process), order_(round_robin(topology)) {}

void Binding::bind_new() {
  const std::vector<pid_t> threads = linux_os::threads_of(process_);
  std::erase_if(threads_,
                [&](const auto& known) { return !std::ranges::binary_search(threads, known.first); });
  for (const pid_t thread : threads) {
    Bound bound{};
    if (threads_.contains(thread) || is_sampler(process_, thread) ||
        sched_getaffinity(thread, sizeof bound.now, &bound.now) != 0) {
      continue;
    }
    bound.before = bound.now;
    // It inherited a binding of ours, if it has exactly that of a thread we bound.
    for (const auto& [other, with] : threads_) {
      if (CPU_EQUAL(&with.now, &bound.now)) {
        bound.before = with.before;
        break;
      }
    }
    for (std::size_t tried = 0; tried < order_.size(); ++tried) {
      const unsigned cpu = order_[next_++ % order_.size()];
      if (CPU_ISSET(cpu, &bound.before)) {
        CPU_ZERO(&bound.now);
        CPU_SET(cpu, &bound.now);
        break;
      }
    }
    if (sched_setaffinity(thread, sizeof bound.now, &bound.now) == 0) {
      threads_.emplace(thread, bound);
    }
  }
}

void Binding::undo() {
  // Threads that a bound one started since the last look have its binding.
  bind_new();
  for (const auto& [thread, bound] : threads_) {
    cpu_set_t found;
    if (sched_getaffinity(thread, sizeof found, &found) == 0 && CPU_EQUAL(&found, &bound.now)) {
      (void)sched_setaffinity(thread, sizeof bound.before, &bound.before);
    }
  }
  threads_.clear();
}

}  // namespace memgraft::placement
