// Which fences of a method are not needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "ordering/c2_graph.h"

namespace memgraft::hotspot::c2 {

// What may come behind a fence, without another one in between; of several, the last one here is told.
enum class Behind : std::uint8_t {
  nothing,
  end,  // of the method: what its caller does is not known
  call,
  unknown,
  load,
};
inline constexpr std::size_t kBehind = 5;

// A store must not be overtaken by a later load. So of the fences behind a run of stores only those are
// needed from which a load can be reached without another one in between: whatever way a program takes from a
// store to a load, the last fence on it is such a one. What cannot be looked into (calls, the method's end,
// ways that are not understood) counts as a load. A poll does not: where it is taken, the JVM has a fence.
class LastFences {
 public:
  explicit LastFences(const Graph& graph) : graph_(&graph) {}

  // Of a graph in which no access is moved any more. A fence behind which there is nothing is not needed.
  [[nodiscard]] Behind behind(const Node* fence);
  // Whether it comes to itself again without another one in between, or what is behind a fence otherwise.
  [[nodiscard]] bool is_in_loop(const Node* fence);

 private:
  [[nodiscard]] const Node* control_behind(const Node* node) const;
  [[nodiscard]] const Node* next_of(const Node* control) const;
  [[nodiscard]] Behind pass(const Node* node);
  [[nodiscard]] bool add(const Node* control);
  [[nodiscard]] bool add_ways(const Node* branch);
  [[nodiscard]] bool is_trap(const Node* call) const;

  const Graph* graph_;
  std::unordered_set<const Node*> seen_;
  std::vector<const Node*> pending_;
};

// The nodes of the graph that the method's end needs, `root` first.
std::vector<Node*> reachable_from(Node* root);

// Both make fences behind stores of the program barriers for the compiler alone. The graph must know a
// MemBarCPUOrder.
//
// Fences behind stores to objects that nobody else has yet, above all those in loops: with the whole graph
// there, and nothing optimised. Returns how many.
std::size_t drop_private_fences(const Graph& graph, std::span<Node* const> nodes);
// Fences that others make unnecessary: when no access is moved any more. If one that is there for the
// method's end alone is in a loop, all of those go, and the caller has to put one at the method's end.
struct Joined {
  std::array<std::size_t, kBehind> fences{};  // by what is behind them; those before nothing went
  bool at_end = false;  // the method's end stands for those before it: they are among these
};
Joined join_fences(const Graph& graph, Node* root);

}  // namespace memgraft::hotspot::c2
