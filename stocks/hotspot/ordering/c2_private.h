// Which stores of a method cannot be seen by another thread yet.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_set>
#include <vector>

#include "ordering/c2_graph.h"

namespace memgraft::hotspot::c2 {

// Whether the object `base`, where `control` is, can have been reached by another thread. It cannot if it was
// allocated here, or is what a constructor constructs, and on no path from there to `control` its reference
// was handed to memory, to a call or to a merge of values that cannot be followed. Everything unknown counts
// as a handing on; so does a part of the graph that is still to be parsed.
class Privacy {
 public:
  // `whole`: everything is parsed, so that ways into a region that are missing are never taken.
  Privacy(const Graph& graph, bool whole) : graph_(&graph), whole_(whole) {}

  // `in_constructor` tells whether the method being compiled is a constructor, whose first parameter nobody
  // else knows.
  [[nodiscard]] bool is_private(const Node* control, const Node* base,
                                const std::function<bool()>& in_constructor);

 private:
  [[nodiscard]] const Node* resolve(const Node* reference) const;
  [[nodiscard]] const Node* origin_of(const Node* base, const std::function<bool()>& in_constructor) const;
  [[nodiscard]] bool reach_back(const Node* control, const Node* origin);
  [[nodiscard]] bool escapes_within_reach(const Node* reference);
  [[nodiscard]] bool use_escapes(const Node* use, const Node* reference, bool address);

  const Graph* graph_;
  bool whole_;
  std::unordered_set<const Node*> reached_;  // control from which `control` can be reached
  std::unordered_set<const Node*> followed_;
  std::vector<const Node*> pending_;
};

}  // namespace memgraft::hotspot::c2
