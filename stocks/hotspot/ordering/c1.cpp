#include "ordering/c1.h"

#include <string_view>

#include "join/entry.h"
#include "ordering/c2_graph.h"
#include "ordering/machine.h"
#include "ordering/needs.h"
#include "ordering/parts.h"

namespace memgraft::hotspot::c1 {

namespace {

// gc/shared/c1/barrierSetC1.hpp: LIRAccess.
struct Access {
  void* generator;
  std::uint64_t decorators;
};

struct Originals {
  void (*store_at)(void*, Access*, void*) = nullptr;
  void (*load_at)(void*, Access*, void*) = nullptr;
  void (*array_copy)(void*, void*) = nullptr;
  std::intptr_t (*load_indexed_hash)(const void*) = nullptr;
  void (*compile)(void*, void*, void*, int, bool, void*) = nullptr;
  void (*membar)(void*) = nullptr;
  void (*field_flags)(c2::CiField*, void*) = nullptr;
};

struct Counters {
  Counter methods{0};
  Counter loads{0};
  Counter stores{0};
  Counter fences{0};
};

struct State {
  Originals original;
  Counters counts;
};

State the_state;

State& graft() { return the_state; }

void store_at(void* self, Access* access, void* value) {
  make_sequentially_consistent(access->decorators);
  count(graft().counts.stores);
  graft().original.store_at(self, access, value);
}

void load_at(void* self, Access* access, void* result) {
  make_sequentially_consistent(access->decorators);
  count(graft().counts.loads);
  graft().original.load_at(self, access, result);
}

void array_copy(void* operation, void* assembler) {
  if (machine::stubs_may_be_early()) {
    graft().original.membar(assembler);
  }
  graft().original.array_copy(operation, assembler);
  emit_fence(assembler);
}

// 0 means that no earlier load of the same element may stand for this one (c1/c1_Instruction.hpp).
std::intptr_t load_indexed_hash(const void* /*load*/) { return 0; }

// Whether this thread is compiling with C1.
thread_local bool in_c1 = false;

void compile(void* self, void* environment, void* method, int bci, bool install, void* directive) {
  in_c1 = true;
  count(graft().counts.methods);
  graft().original.compile(self, environment, method, bci, install, directive);
  in_c1 = false;
}

// C1 forgets loads, and takes stored values for later loads, before it comes to accesses: but not of volatile
// fields.
void field_flags(c2::CiField* field, void* descriptor) {
  graft().original.field_flags(field, descriptor);
  if (in_c1 && (field->flags & c2::kFinal) == 0) {
    field->flags |= c2::kVolatile;
  }
}

}  // namespace

void emit_fence(void* assembler) {
  graft().original.membar(assembler);
  count(graft().counts.fences);
}

void install(const Joints& joints, const Stock& stock, Patch& patch) {
  Originals& original = graft().original;
  original.membar = reinterpret_cast<decltype(original.membar)>(joints.at(ordering::kC1Membar).original);
  const auto take = [&](std::string_view name, auto& pointer, auto replacement) {
    take_over(patch, joints.at(name), pointer, replacement);
  };
  take(ordering::kC1StoreAt, original.store_at, &store_at);
  take(ordering::kC1LoadAt, original.load_at, &load_at);
  take(ordering::kC1ArrayCopy, original.array_copy, &array_copy);
  take(ordering::kC1LoadIndexedHash, original.load_indexed_hash, &load_indexed_hash);
  take(ordering::kC1Compile, original.compile, &compile);
  const std::uintptr_t moved = hook_entry(patch, stock.code(ordering::kFieldFlags).function,
                                          reinterpret_cast<std::uintptr_t>(&field_flags));
  original.field_flags = reinterpret_cast<decltype(original.field_flags)>(moved);
}

void add_counts(OrderingCounts& counts) {
  const Counters& mine = graft().counts;
  counts.c1_methods = value(mine.methods);
  counts.c1_loads = value(mine.loads);
  counts.c1_stores = value(mine.stores);
  counts.c1_fences = value(mine.fences);
}

}  // namespace memgraft::hotspot::c1
