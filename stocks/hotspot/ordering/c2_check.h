// Whether a method's accesses all left the parser with their barriers: the check that VBD-HotSpot makes in
// its phase VBDVerify (Liu, Millstein and Musuvathi, OOPSLA 2017, section 3.4), of the graph itself and not
// of what the graft believes to have done.
#pragma once

#include <cstdint>
#include <functional>

#include "ordering/c2_graph.h"

namespace memgraft::hotspot::c2 {

// HotSpot's own: what kind of memory an access is to.
struct AliasTypes {
  const void* (*address_type)(const Node* access) = nullptr;
  const void* (*find)(void* compile, const void* address_type, bool no_create, void* field) = nullptr;
};

struct Checked {
  std::uint64_t accesses = 0;  // of fields and array elements
  std::uint64_t ordered = 0;   // with the barrier that such an access must have
  std::uint64_t excused = 0;   // without, and rightly so
  std::uint64_t unsafe = 0;    // without
};

// Looks at the nodes of a graph that is parsed and not optimised. `excused` says of an access without a
// barrier whether it needs none.
Checked check_order(const Graph& graph, const AliasTypes& types, void* compile, const Node* const* nodes,
                    std::uint32_t size, const std::function<bool(const Node* access)>& excused);

// What an address type stands for (opto/compile.hpp, AliasType).
struct Memory {
  bool shared = false;  // a field or an array element
  bool final = false;   // written once, before anybody else has the object
};
Memory memory_of(const AliasTypes& types, void* compile, const void* address_type);

}  // namespace memgraft::hotspot::c2
