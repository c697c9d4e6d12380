#include "ordering/c2_private.h"

namespace memgraft::hotspot::c2 {

namespace {

// Beyond this nothing is won that would be worth the compiler's time.
constexpr std::size_t kMostControl = 4000;
constexpr std::size_t kMostUses = 2000;

const Node* input(const Node* node, std::uint32_t index) {
  return index < node->inputs ? node->in[index] : nullptr;
}

}  // namespace

bool Privacy::is_private(const Node* control, const Node* base, const std::function<bool()>& in_constructor) {
  if (control == nullptr || base == nullptr) {
    return false;
  }
  const Node* const reference = origin_of(base, in_constructor);
  if (reference == nullptr) {
    return false;
  }
  const Node* const origin = input(reference, kControl);
  return origin != nullptr && reach_back(control, origin) && !escapes_within_reach(reference);
}

// What a reference is behind its casts, and behind merges of it with itself only, as the parser makes them at
// the heads of loops; null where it is more than one.
const Node* Privacy::resolve(const Node* reference) const {
  constexpr std::size_t kMostSteps = 64;
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> pending{reference};
  const Node* root = nullptr;
  while (!pending.empty()) {
    const Node* const node = pending.back();
    pending.pop_back();
    if (node == nullptr || seen.size() > kMostSteps) {
      return nullptr;
    }
    if (!seen.insert(node).second) {
      continue;
    }
    const Kind kind = graph_->kind(node);
    if (kind == Kind::cast) {
      pending.push_back(input(node, 1));
    } else if (kind == Kind::phi) {
      for (std::uint32_t i = 1; i < node->required; ++i) {
        if (node->in[i] != nullptr || !whole_) {
          pending.push_back(node->in[i]);
        }
      }
    } else if (root != nullptr) {
      return nullptr;
    } else {
      root = node;
    }
  }
  return root;
}

// The projection that is the new object, or null.
const Node* Privacy::origin_of(const Node* base, const std::function<bool()>& in_constructor) const {
  base = resolve(base);
  if (base == nullptr) {
    return nullptr;
  }
  const Kind kind = graph_->kind(base);
  const Node* const of = input(base, kControl);
  if (of == nullptr || base->projected != kFirstParameter) {
    return nullptr;
  }
  if (kind == Kind::projection && graph_->kind(of) == Kind::allocation) {
    return base;
  }
  if (kind == Kind::parameter && graph_->kind(of) == Kind::start && in_constructor()) {
    return base;
  }
  return nullptr;
}

// False where not everything in between is there, or it is too much.
bool Privacy::reach_back(const Node* control, const Node* origin) {
  reached_.clear();
  pending_.assign(1, control);
  while (!pending_.empty()) {
    const Node* const node = pending_.back();
    pending_.pop_back();
    if (node == origin || !reached_.insert(node).second) {
      continue;
    }
    if (reached_.size() > kMostControl) {
      return false;
    }
    switch (graph_->kind(node)) {
      case Kind::start:
        return false;  // there is a path on which it was not allocated: something is not as it seems
      case Kind::region:
        for (std::uint32_t i = 1; i < node->required; ++i) {
          if (node->in[i] != nullptr) {
            pending_.push_back(node->in[i]);
          } else if (!whole_) {
            return false;  // a loop whose end is not parsed yet, perhaps
          }
        }
        break;
      default: {
        const Node* const before = input(node, kControl);
        if (before == nullptr) {
          return false;
        }
        pending_.push_back(before);
      }
    }
  }
  return true;
}

bool Privacy::escapes_within_reach(const Node* reference) {
  // What has the reference itself, and what only an address made of it.
  struct Follow {
    const Node* node;
    bool address;
  };
  followed_.clear();
  followed_.insert(reference);
  std::vector<Follow> follow{{.node = reference, .address = false}};
  std::size_t uses = 0;
  while (!follow.empty()) {
    const Follow now = follow.back();
    follow.pop_back();
    for (std::uint32_t i = 0; i < now.node->outputs; ++i) {
      const Node* const use = now.node->out[i];
      if (++uses > kMostUses) {
        return true;
      }
      const Kind kind = graph_->kind(use);
      const bool same = kind == Kind::phi && resolve(use) == reference;
      if (same || kind == Kind::cast || kind == Kind::encode || kind == Kind::add_p) {
        if (followed_.insert(use).second) {
          follow.push_back({.node = use, .address = now.address || kind == Kind::add_p});
        }
      } else if (use_escapes(use, now.node, now.address)) {
        return true;
      }
    }
  }
  return false;
}

bool Privacy::use_escapes(const Node* use, const Node* reference, bool address) {
  // Where the use happens; a use that is nowhere yet could be anywhere.
  const auto within_reach = [this](const Node* where) {
    return where == nullptr || reached_.contains(where);
  };
  switch (graph_->kind(use)) {
    case Kind::compare:
    case Kind::to_integer:
    case Kind::initialize:
    case Kind::fence:
    case Kind::acquire:
    case Kind::barrier:
      return false;
    case Kind::load:
    case Kind::immutable_load:
      return !address;
    case Kind::store:
    case Kind::load_store: {
      for (std::uint32_t i = kStoredValue; i < use->inputs; ++i) {
        if (use->in[i] == reference) {
          return within_reach(input(use, kControl));
        }
      }
      return !address;
    }
    case Kind::poll:
    case Kind::call:
    case Kind::allocation: {
      const JvmState* const state = reinterpret_cast<const SafePoint*>(use)->state;
      const std::uint32_t arguments_end = state == nullptr ? use->inputs : state->locals_begin;
      for (std::uint32_t i = 0; i < arguments_end && i < use->inputs; ++i) {
        if (use->in[i] == reference) {
          return within_reach(use);
        }
      }
      return false;
    }
    case Kind::exit:
      return false;  // nothing comes after it
    case Kind::phi:
      // From there on it cannot be told from other objects.
      return within_reach(input(use, kControl));
    default:
      return true;
  }
}

}  // namespace memgraft::hotspot::c2
