// The ordering graft's part in C2: accesses as they are parsed, fences that are not needed, calls of stubs.
#pragma once

#include "ordering/c2_graph.h"
#include "ordering/install.h"

namespace memgraft::hotspot::c2 {

// Throws a Refusal. The options are those that this machine can have; the joints are those of
// `ordering_needs`.
void install(const OrderingOptions& options, const Joints& joints, const Stock& stock, Patch& patch);

// Puts a fence behind what the node has emitted, counted as one behind a call.
void emit_fence(const void* node, void* assembler, void* registers);

const Graph& graph();
void add_counts(OrderingCounts& counts);

}  // namespace memgraft::hotspot::c2
