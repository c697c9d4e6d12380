// Which fences of a method are not needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "c2_graph.h"

namespace memgraft::hotspot::c2 {

// What may come behind a fence, without another one in between; of several, the last one here is told.
enum class Behind : std::uint8_t {
  nothing,
  end,  // of the method: what its caller does is not known
  poll,
  call,
  unknown,
  load,
};
inline constexpr std::size_t kBehind = 6;

// A store must not be overtaken by a later load. So of the fences behind a run of stores only those are
// needed from which a load can be reached without another one in between: whatever way a program takes from a
// store to a load, the last fence on it is such a one. What cannot be looked into (calls, the method's end,
// polls, ways that are not understood) counts as a load.
class LastFences {
 public:
  explicit LastFences(const Graph& graph) : graph_(&graph) {}

  // Of a graph in which no access is moved any more. A fence behind which there is nothing is not needed.
  [[nodiscard]] Behind behind(const Node* fence);

 private:
  [[nodiscard]] const Node* control_behind(const Node* node) const;
  [[nodiscard]] const Node* next_of(const Node* control) const;
  [[nodiscard]] Behind pass(const Node* node);
  [[nodiscard]] bool add(const Node* control);
  [[nodiscard]] bool add_ways(const Node* branch);
  [[nodiscard]] bool is_trap(const Node* call) const;
  [[nodiscard]] Behind stop(const Node* safepoint) const;

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
// Fences that others make unnecessary: when no access is moved any more. Returns how many fences there were
// by what is behind them: those of `nothing` are the unnecessary ones.
using FenceCounts = std::array<std::size_t, kBehind>;
FenceCounts join_fences(const Graph& graph, Node* root);

}  // namespace memgraft::hotspot::c2
