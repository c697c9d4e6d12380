// What of the ordering graft is another on every instruction set: the interpreter, and which instructions C2
// makes of its barriers. One file of these joins it: machine_x86_64.cpp or machine_aarch64.cpp.
#pragma once

#include <cstdint>
#include <string_view>

#include "join/joints.h"
#include "join/patch.h"
#include "join/stock.h"
#include "ordering/c2_graph.h"
#include "ordering/options.h"

namespace memgraft::hotspot::machine {

// What of these options there is on this machine: savings that it has no use for are left out. Throws a
// Refusal where the rest would not be what was asked for.
OrderingOptions joinable(const OrderingOptions& options, const Stock& stock);

// Of the rest of the graft.
struct Shared {
  const c2::Graph* graph;
  // A full fence behind a call, counted: where C2 emits this node, or C1 with this assembler.
  void (*c2_fence)(const void* node, void* assembler, void* registers);
  void (*c1_fence)(void* assembler);
};

// Puts the replacements into `patch`; the joints are those of `ordering_needs`. Throws a Refusal.
void install(const OrderingOptions& options, const Joints& joints, const Stock& stock, const Shared& shared,
             Patch& patch);

struct Counts {
  std::uint64_t interpreter_loads = 0;
  std::uint64_t interpreter_stores = 0;
};
Counts counts();

// By the thread that calls it. An instruction: ThreadSanitizer knows no std::atomic_thread_fence.
void full_fence();

// Stubs that copy, and the like, access memory with plain instructions: whether these could come before what
// the program did before the call.
bool stubs_may_be_early();
// Intrinsics that read arrays of the program without a barrier, and may do so elsewhere: names for
// DisableIntrinsic, each with a comma before it.
std::string_view intrinsics_off();
// An access that C2 parses whose instruction the graft must leave as it is, with a fence before and behind
// it, because the one for ordered accesses would fault; and such a fence, where the parser is, of that access
// if there is one yet.
bool must_stay_plain(const c2::Access& access, const c2::Layout& layout);
void insert_c2_fence(const c2::GraphKit* kit, void* access);
// Whether what C2 puts behind a store is an instruction of its own, so that it alone may go.
bool stores_have_own_fences();

}  // namespace memgraft::hotspot::machine
