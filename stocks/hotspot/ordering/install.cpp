#include "ordering/install.h"

#include <string>
#include <string_view>

#include "ordering/c1.h"
#include "ordering/c2.h"
#include "ordering/machine.h"
#include "ordering/needs.h"

namespace memgraft::hotspot {

namespace {

// Intrinsics that read or write arrays of the program without a barrier; compiled from their bytecode
// instead. A name that a version does not know is ignored when it is read here.
constexpr std::string_view kIntrinsicsOff =
    "_encodeISOArray,_encodeByteISOArray,_encodeAsciiArray,_equalsB,_equalsC,_vectorizedMismatch,"
    "_vectorizedHashCode,_arraySort,_arrayPartition,_hasNegatives,_countPositives,_compressStringC,"
    "_compressStringB,_inflateStringC,_inflateStringB,_getCharsStringU,_toBytesStringU";

// -XX:DisableIntrinsic is a list of names, kept as C text, or nothing (runtime/globals.hpp).
void switch_intrinsics_off(const Joint& disabled, Patch& patch) {
  // HotSpot keeps what it points to.
  static std::string names;
  const auto* const before = reinterpret_cast<const char*>(disabled.original);
  names = before == nullptr || *before == '\0' ? "" : std::string(before) + ",";
  names += kIntrinsicsOff;
  names += machine::intrinsics_off();
  patch.replace(disabled.cell, reinterpret_cast<std::uintptr_t>(names.c_str()));
}

}  // namespace

void install_ordering(const OrderingOptions& asked, const Joints& joints, const Stock& stock, Patch& patch) {
  const OrderingOptions options = machine::joinable(asked, stock);
  switch_intrinsics_off(joints.at(ordering::kDisableIntrinsic), patch);
  // Copies of so few elements would become loads and stores without barriers (opto/arraycopynode.cpp).
  patch.replace(joints.at(ordering::kLargestInlineCopy).cell, 0);
  if (!options.accesses) {
    return;
  }
  c2::install(options, joints, stock, patch);
  c1::install(joints, stock, patch);
  machine::install(options, joints, stock,
                   {.graph = &c2::graph(), .c2_fence = &c2::emit_fence, .c1_fence = &c1::emit_fence}, patch);
}

OrderingCounts ordering_counts() {
  OrderingCounts counts;
  c2::add_counts(counts);
  c1::add_counts(counts);
  const machine::Counts of_machine = machine::counts();
  counts.interpreter_loads = of_machine.interpreter_loads;
  counts.interpreter_stores = of_machine.interpreter_stores;
  return counts;
}

}  // namespace memgraft::hotspot
