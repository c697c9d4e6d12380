#include "ordering/c2_check.h"

namespace memgraft::hotspot::c2 {

namespace {

struct AliasType {
  std::int32_t index;
  const void* address_type;
  const CiField* field;  // or null
  const void* element;   // Type, or null
};

// Whether a barrier belongs to this access, or to what the access's value is decoded to.
bool has_barrier(const Graph& graph, const Node* access) {
  for (std::uint32_t i = 0; i < access->outputs; ++i) {
    const Node* const use = access->out[i];
    const Kind kind = graph.kind(use);
    if ((kind == Kind::fence || kind == Kind::acquire || kind == Kind::barrier) && kPrecedent < use->inputs &&
        use->in[kPrecedent] == access) {
      return true;
    }
    if (kind == Kind::decode && has_barrier(graph, use)) {
      return true;
    }
  }
  return false;
}

// What a collector's barrier loads before a store, for its own queue (G1 up to JDK 23): it goes nowhere but
// there.
bool is_for_collector(const Graph& graph, const Node* value) {
  for (std::uint32_t i = 0; i < value->outputs; ++i) {
    const Node* const use = value->out[i];
    switch (graph.kind(use)) {
      case Kind::compare:
        break;
      case Kind::decode:
        if (!is_for_collector(graph, use)) {
          return false;
        }
        break;
      case Kind::store: {
        const Node* const address = use->in[kAddress];
        const bool raw = address != nullptr && graph.kind(address) == Kind::add_p &&
                         graph.kind(address->in[kAddressBase]) == Kind::nothing;
        if (!raw) {
          return false;
        }
        break;
      }
      case Kind::call:
        // A leaf call, which has no state of the interpreter.
        if (reinterpret_cast<const SafePoint*>(use)->state != nullptr) {
          return false;
        }
        break;
      default:
        return false;
    }
  }
  return value->outputs > 0;
}

}  // namespace

Memory memory_of(const AliasTypes& types, void* compile, const void* address_type) {
  if (address_type == nullptr) {
    return {};
  }
  const auto* const found = static_cast<const AliasType*>(types.find(compile, address_type, true, nullptr));
  if (found == nullptr) {
    return {};
  }
  return {.shared = found->field != nullptr || found->element != nullptr,
          .final = found->field != nullptr && (found->field->flags & kFinal) != 0};
}

Checked check_order(const Graph& graph, const AliasTypes& types, void* compile, const Node* const* nodes,
                    std::uint32_t size, const std::function<bool(const Node* access)>& excused) {
  Checked checked;
  for (std::uint32_t i = 0; i < size; ++i) {
    const Node* const node = nodes[i];
    const Kind kind = graph.kind(node);
    if (kind != Kind::load && kind != Kind::store) {
      continue;
    }
    if (!memory_of(types, compile, types.address_type(node)).shared) {
      continue;
    }
    ++checked.accesses;
    if (has_barrier(graph, node)) {
      ++checked.ordered;
    } else if ((kind == Kind::load && is_for_collector(graph, node)) || excused(node)) {
      ++checked.excused;
    } else {
      ++checked.unsafe;
    }
  }
  return checked;
}

}  // namespace memgraft::hotspot::c2
