#include "ordering/c2_fences.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ordering/c2_private.h"

namespace memgraft::hotspot::c2 {

namespace {

// Beyond this nothing is won that would be worth the compiler's time.
constexpr std::size_t kMostSteps = 2000;

bool has_input(const Node* node, const Node* input) {
  for (std::uint32_t i = 0; i < node->required; ++i) {
    if (node->in[i] == input) {
      return true;
    }
  }
  return false;
}

bool is_control(Kind kind) {
  switch (kind) {
    case Kind::branch:
    case Kind::region:
    case Kind::fence:
    case Kind::acquire:
    case Kind::barrier:
    case Kind::initialize:
    case Kind::poll:
    case Kind::call:
    case Kind::allocation:
    case Kind::exit:
    case Kind::halt:
      return true;
    default:
      return false;
  }
}

// The store that a fence belongs to; null for fences of others, of the collector's barriers say.
const Node* store_before(const Graph& graph, const Node* fence) {
  if (graph.kind(fence) != Kind::fence || fence->inputs <= kPrecedent) {
    return nullptr;
  }
  const Node* const store = fence->in[kPrecedent];
  return store != nullptr && graph.kind(store) == Kind::store ? store : nullptr;
}

const Node* base_of(const Graph& graph, const Node* access) {
  const Node* const address = access->in[kAddress];
  return address != nullptr && graph.kind(address) == Kind::add_p ? address->in[kAddressBase] : nullptr;
}

}  // namespace

Behind LastFences::behind(const Node* fence) {
  seen_.clear();
  pending_.clear();
  if (!add(control_behind(fence))) {
    return Behind::unknown;
  }
  Behind found = Behind::nothing;
  while (!pending_.empty() && found != Behind::load) {
    const Node* const node = pending_.back();
    pending_.pop_back();
    if (!seen_.insert(node).second) {
      continue;
    }
    if (seen_.size() > kMostSteps) {
      return Behind::unknown;
    }
    found = std::max(found, pass(node));
  }
  return found;
}

bool LastFences::is_in_loop(const Node* fence) {
  (void)behind(fence);
  return seen_.contains(fence);
}

// Goes on behind the node, or ends there: with `nothing` if there is nothing to fear any more.
Behind LastFences::pass(const Node* node) {
  const auto unless_known = [](bool known) { return known ? Behind::nothing : Behind::unknown; };
  switch (graph_->kind(node)) {
    case Kind::fence:
    case Kind::halt:
      return Behind::nothing;
    case Kind::acquire: {
      // Behind a load; or behind a compare-and-swap or its like, which is a fence itself.
      const Node* const access = kPrecedent < node->inputs ? node->in[kPrecedent] : nullptr;
      return access != nullptr && graph_->kind(access) == Kind::load_store ? Behind::nothing : Behind::load;
    }
    case Kind::call:
      return is_trap(node) ? Behind::nothing : Behind::call;
    case Kind::exit:
      return Behind::end;
    case Kind::barrier:
    case Kind::initialize:
      return unless_known(add(control_behind(node)));
    case Kind::region:
    case Kind::poll:
      return unless_known(add(node));
    case Kind::branch:
      return unless_known(add_ways(node));
    default:
      return Behind::unknown;
  }
}

// The projection by which control leaves a barrier or a call.
const Node* LastFences::control_behind(const Node* node) const {
  for (std::uint32_t i = 0; i < node->outputs; ++i) {
    const Node* const use = node->out[i];
    if (graph_->kind(use) == Kind::projection && use->projected == kControl) {
      return use;
    }
  }
  return nullptr;
}

// What takes control next: exactly one node does, others only stay below it. Null where it is of no known
// class.
const Node* LastFences::next_of(const Node* control) const {
  const Node* next = nullptr;
  for (std::uint32_t i = 0; i < control->outputs; ++i) {
    const Node* const use = control->out[i];
    const Kind kind = graph_->kind(use);
    const bool takes = kind == Kind::region
                           ? use != control && has_input(use, control)
                           : is_control(kind) && use->required > 0 && use->in[kControl] == control;
    if (!takes || use == next) {
      continue;
    }
    if (next != nullptr) {
      return nullptr;
    }
    next = use;
  }
  return next;
}

// What comes behind `control`, which may be null: false where that is not known.
bool LastFences::add(const Node* control) {
  const Node* const next = control == nullptr ? nullptr : next_of(control);
  if (next == nullptr) {
    return false;
  }
  pending_.push_back(next);
  return true;
}

bool LastFences::add_ways(const Node* branch) {
  constexpr std::uint32_t kWays = 2;
  if (branch->outputs != kWays) {
    return false;
  }
  for (std::uint32_t i = 0; i < kWays; ++i) {
    if (graph_->kind(branch->out[i]) != Kind::way || !add(branch->out[i])) {
      return false;
    }
  }
  return true;
}

// A call from which compiled code does not go on is an uncommon trap: the interpreter does, behind a fence.
bool LastFences::is_trap(const Node* call) const {
  const Node* const behind = control_behind(call);
  const Node* const next = behind == nullptr ? nullptr : next_of(behind);
  return next != nullptr && graph_->kind(next) == Kind::halt;
}

std::vector<Node*> reachable_from(Node* root) {
  std::vector<Node*> nodes{root};
  std::unordered_set<const Node*> seen{root};
  for (std::size_t next = 0; next < nodes.size(); ++next) {
    const Node* const node = nodes[next];
    for (std::uint32_t i = 0; i < node->required; ++i) {
      if (Node* const input = node->in[i]; input != nullptr && seen.insert(input).second) {
        nodes.push_back(input);
      }
    }
  }
  return nodes;
}

std::size_t drop_private_fences(const Graph& graph, std::span<Node* const> nodes) {
  std::size_t dropped = 0;
  for (Node* const fence : nodes) {
    const Node* const store = store_before(graph, fence);
    if (store == nullptr) {
      continue;
    }
    Privacy privacy(graph, true);
    if (privacy.is_private(fence->in[kControl], base_of(graph, store), [] { return false; })) {
      fence->vtable = graph.cpu_order_vtable();
      ++dropped;
    }
  }
  return dropped;
}

namespace {

void make_barriers(const Graph& graph, std::span<Node* const> fences) {
  for (Node* const fence : fences) {
    fence->vtable = graph.cpu_order_vtable();
  }
}

}  // namespace

Joined join_fences(const Graph& graph, Node* root) {
  LastFences last(graph);
  Joined joined;
  const auto number = [&joined](Behind behind) -> std::size_t& {
    return joined.fences.at(static_cast<std::size_t>(behind));
  };
  std::vector<Node*> unneeded;
  std::vector<Node*> before_end;
  for (Node* const node : reachable_from(root)) {
    if (store_before(graph, node) == nullptr) {
      continue;
    }
    const Behind behind = last.behind(node);
    ++number(behind);
    if (behind == Behind::nothing) {
      unneeded.push_back(node);
    } else if (behind == Behind::end) {
      before_end.push_back(node);
    }
  }
  // Only now: to the search, all of them are fences.
  make_barriers(graph, unneeded);
  joined.at_end = std::ranges::any_of(before_end, [&](const Node* fence) { return last.is_in_loop(fence); });
  if (joined.at_end) {
    make_barriers(graph, before_end);
    number(Behind::nothing) += std::exchange(number(Behind::end), 0);
  }
  return joined;
}

}  // namespace memgraft::hotspot::c2
