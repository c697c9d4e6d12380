// The ordering graft's part in C1: accesses, copies of arrays, and loads that would not be made.
#pragma once

#include "ordering/install.h"

namespace memgraft::hotspot::c1 {

// Throws a Refusal. The joints are those of `ordering_needs`.
void install(const Joints& joints, const Stock& stock, Patch& patch);

// A full fence behind a call, counted.
void emit_fence(void* assembler);

void add_counts(OrderingCounts& counts);

}  // namespace memgraft::hotspot::c1
