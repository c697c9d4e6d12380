// Graphs as C2 makes them, small enough to be written down.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "ordering/c2_graph.h"

namespace memgraft::hotspot::c2 {

// Nodes are told apart by their first word; here that is their kind itself.
inline Graph graph_of_kinds() {
  std::unordered_map<std::uintptr_t, Kind> kinds;
  for (int kind = 1; kind <= static_cast<int>(Kind::nothing); ++kind) {
    kinds[static_cast<std::uintptr_t>(kind)] = static_cast<Kind>(kind);
  }
  return Graph(std::move(kinds), static_cast<std::uintptr_t>(Kind::barrier));
}

class Graphs {
 public:
  // A node with these inputs, of which any may be null.
  Node* add(Kind kind, std::vector<Node*> inputs, std::uint32_t projected = 0) {
    SafePoint& made = nodes_.emplace_back();
    std::vector<Node*>& in = inputs_.emplace_back(std::move(inputs));
    Node& node = made.node;
    node.vtable = static_cast<std::uintptr_t>(kind);
    node.in = in.data();
    node.required = static_cast<std::uint32_t>(in.size());
    node.inputs = node.required;
    node.projected = projected;
    for (Node* const input : in) {
      if (input != nullptr) {
        use(input, &node);
      }
    }
    list_.push_back(&node);
    return &node;
  }

  // A call of `arguments`, with `debug` for the interpreter's sake.
  Node* call(Node* control, std::initializer_list<Node*> arguments, std::initializer_list<Node*> debug = {}) {
    std::vector<Node*> inputs{control, nullptr, nullptr, nullptr, nullptr};
    inputs.insert(inputs.end(), arguments);
    const auto locals = static_cast<std::uint32_t>(inputs.size());
    inputs.insert(inputs.end(), debug);
    Node* const made = add(Kind::call, std::move(inputs));
    JvmState& state = states_.emplace_back();
    state.locals_begin = locals;
    // The node is the first member of what was allocated.
    reinterpret_cast<SafePoint*>(made)->state = &state;
    return made;
  }

  // A region whose way in number `index` was still to be parsed.
  void connect(Node* region, std::uint32_t index, Node* from) {
    region->in[index] = from;
    use(from, region);
  }

  Node* start() { return add(Kind::start, {nullptr}); }
  Node* control_of(Node* of) { return add(Kind::projection, {of}, 0); }
  Node* allocate(Node* control) { return add(Kind::allocation, {control}); }
  Node* object_of(Node* allocation) {
    Node* const raw = add(Kind::projection, {allocation}, kFirstParameter);
    return add(Kind::cast, {nullptr, raw});
  }
  Node* store(Node* control, Node* object, Node* value) {
    Node* const address = add(Kind::add_p, {nullptr, object, object, nullptr});
    return add(Kind::store, {control, nullptr, address, value});
  }
  Node* load(Node* control, Node* object) {
    Node* const address = add(Kind::add_p, {nullptr, object, object, nullptr});
    return add(Kind::load, {control, nullptr, address});
  }
  // A barrier that belongs to an access.
  Node* barrier(Kind kind, Node* control, Node* access) {
    return add(kind, {control, nullptr, nullptr, nullptr, nullptr, access});
  }

  [[nodiscard]] const std::vector<Node*>& all() const { return list_; }

 private:
  void use(Node* of, Node* by) {
    std::vector<Node*>& uses = uses_[of];
    uses.push_back(by);
    of->out = uses.data();
    of->outputs = static_cast<std::uint32_t>(uses.size());
  }

  std::deque<SafePoint> nodes_;
  std::deque<std::vector<Node*>> inputs_;
  std::deque<JvmState> states_;
  std::unordered_map<Node*, std::vector<Node*>> uses_;
  std::vector<Node*> list_;
};

}  // namespace memgraft::hotspot::c2
