// C2's graph of a compilation, as far as the ordering graft reads it: opto/node.hpp, callnode.hpp,
// graphKit.hpp, the same in JDK 17, 21 and 25 (JDK 17 and 21 also describe Node and JVMState in
// gHotSpotVMStructs). Nodes are told apart by their virtual tables, which are found by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "join/stock.h"

namespace memgraft::hotspot::c2 {

// What matters about a node's class.
enum class Kind : std::uint8_t {
  other,
  add_p,       // an address: base, address, offset
  cast,        // the same object, seen as another type
  to_integer,  // an address as a number, for card marks
  compare,
  encode,  // the same reference, compressed
  decode,
  phi,
  projection,
  parameter,  // a projection of the method's start
  allocation,
  initialize,
  region,
  start,
  load,
  immutable_load,  // of an array's length or an object's class
  store,
  load_store,  // compare-and-swap and its like
  poll,        // a SafePointNode; the parser's map of where it is is one, too
  call,        // of every kind, but for allocations
  exit,        // of the method
  halt,        // what is never come to: behind uncommon traps above all
  branch,      // with two ways
  way,         // one of a branch's
  fence,       // MemBarVolatile
  acquire,     // MemBarAcquire and its like: something before it was a load
  barrier,     // every other MemBar
  root,
  nothing,  // no object: the base of addresses outside the heap
};

// opto/node.hpp: the fields that every node begins with.
struct Node {
  std::uintptr_t vtable;
  Node** in;
  Node** out;
  std::uint32_t required;  // inputs
  std::uint32_t inputs;    // with the optional ones
  std::uint32_t outputs;
  std::uint32_t outputs_allocated;
  std::uint32_t index;
  std::uint32_t class_id;
  std::uint32_t flags;
  std::uint32_t projected;  // of a ProjNode only: which of its node's results
};

// opto/callnode.hpp
struct JvmState {
  JvmState* caller;
  std::uint32_t depth;
  std::uint32_t locals_begin;  // inputs from here on are for the interpreter's sake only
  std::uint32_t stack_begin;
  std::uint32_t monitors_begin;
  std::uint32_t scalars_begin;
  std::uint32_t end;
  std::uint32_t stack_pointer;
  std::int32_t bci;
  std::uint32_t reexecute;
  const void* method;  // ciMethod
};

// A SafePointNode, or a call.
struct SafePoint {
  Node node;
  const JvmState* state;
};
static_assert(offsetof(SafePoint, state) == 56);

// ci/ciField.hpp: begins with the field's access flags (JVM specification, table 4.5-A), in 16 bits or in 32.
struct CiField {
  std::uint16_t flags;
};
inline constexpr std::uint16_t kFinal = 0x0010;
inline constexpr std::uint16_t kVolatile = 0x0040;

// opto/graphKit.hpp: what the parser knows of where it is.
struct GraphKit {
  std::uintptr_t vtable;
  std::uint64_t phase;
  void* compile;
  const void* environment;
  const void* gvn;
  const SafePoint* map;  // null in code that cannot be reached
};
static_assert(offsetof(GraphKit, map) == 40);

// gc/shared/c2/barrierSetC2.hpp: an access being parsed (C2ParseAccess).
struct Access {
  std::uintptr_t vtable;
  std::uint64_t decorators;
};

// opto/node.hpp: Unique_Node_List.
struct NodeList {
  const void* arena;
  std::uint32_t allocated;
  Node** nodes;
};

// Where the fields are that lie differently from version to version, in bytes.
struct Layout {
  std::size_t access_base;     // Node*: the object of an access
  std::size_t access_address;  // C2AccessValue*: a node, then its type
  std::size_t access_raw;      // Node*: the load or store that was made
  std::size_t access_kit;      // GraphKit*
  std::size_t list_size;       // uint32_t
  unsigned first_decorator;    // the lowest bit of those decorators that only C2 has (C2_MISMATCHED)

  [[nodiscard]] static Layout of(int feature);

  // gc/shared/c2/barrierSetC2.hpp. C2 leaves the load below the last call, test and the like before it.
  [[nodiscard]] std::uint64_t control_dependent_load() const { return decorator(3); }
  // Of Unsafe, and what is built on it.
  [[nodiscard]] std::uint64_t unsafe_access() const { return decorator(5); }
  // Of what C2 takes to be the same throughout a method (`Thread.currentThread()`).
  [[nodiscard]] std::uint64_t immutable_memory() const { return decorator(10); }

 private:
  [[nodiscard]] std::uint64_t decorator(unsigned number) const {
    return std::uint64_t{1} << (first_decorator + number);
  }
};

// A field of an object of HotSpot's, where the table says that it is.
template <typename T>
T field_at(const void* object, std::size_t offset) {
  return *reinterpret_cast<const T*>(static_cast<const std::byte*>(object) + offset);
}

// opto/node.hpp: inputs of nodes.
inline constexpr std::uint32_t kControl = 0;
inline constexpr std::uint32_t kAddress = 2;  // of loads and stores
inline constexpr std::uint32_t kStoredValue = 3;
inline constexpr std::uint32_t kAddressBase = 1;            // of an AddP
inline constexpr std::uint32_t kFirstParameter = 5;         // of calls and of the start (TypeFunc::Parms)
inline constexpr std::size_t kTypeOfValue = sizeof(void*);  // C2AccessValue::_type
inline constexpr std::uint32_t kPrecedent = 5;              // of barriers: the access that they belong to

class Graph {
 public:
  // The classes' virtual tables of this libjvm; nodes of those that it lacks are `other`.
  explicit Graph(const Stock& stock);
  // With these virtual tables: for tests, which have none of HotSpot's.
  explicit Graph(std::unordered_map<std::uintptr_t, Kind> kinds, std::uintptr_t cpu_order = 0)
      : kinds_(std::move(kinds)), cpu_order_(cpu_order) {}
  Graph() = default;

  [[nodiscard]] Kind kind(const Node* node) const {
    const auto found = kinds_.find(node->vtable);
    return found == kinds_.end() ? Kind::other : found->second;
  }
  // What a MemBarCPUOrder has in its first word; 0 where there is no such class.
  [[nodiscard]] std::uintptr_t cpu_order_vtable() const { return cpu_order_; }

 private:
  std::unordered_map<std::uintptr_t, Kind> kinds_;
  std::uintptr_t cpu_order_ = 0;
};

// The virtual tables' symbols, for `Needs`.
std::span<const std::string_view> node_vtables();

}  // namespace memgraft::hotspot::c2
