// What the ordering graft needs on x86-64 besides what it needs everywhere. For needs.cpp and
// machine_x86_64.cpp only.
#pragma once

#include <array>
#include <string_view>

#include "join/needs.h"
#include "ordering/needs.h"

namespace memgraft::hotspot::ordering::isa {

// Versions whose sources were read: what of the compilers and the interpreter passes through these methods,
// and what does not (docs/ordering.md).
inline constexpr std::array kFeatures{17, 21, 25};

inline constexpr std::string_view kC2CallLeafVector = "CallLeafDirectVectorNode::emit";
inline constexpr std::string_view kAssemblerMembar = "_ZN9Assembler6membarENS_16Membar_mask_bitsE";

inline constexpr std::array kFunctions{kAssemblerMembar};
inline constexpr std::array<std::string_view, 0> kInstructions{};

inline constexpr std::array<std::string_view, 2> kCallLeafVector{
    "_ZNK24CallLeafDirectVectorNode4emitER10CodeBufferP13PhaseRegAlloc",
    "_ZNK24CallLeafDirectVectorNode4emitEP17C2_MacroAssemblerP13PhaseRegAlloc"};
// ModRefBarrierSetAssembler is the base of those of all three collectors; JDK 17, 21, and 25.
inline constexpr std::array<std::string_view, 3> kInterpreterStore{
    "_ZN25ModRefBarrierSetAssembler8store_atEP14MacroAssemblerm9BasicType7AddressP12RegisterImplS5_S5_",
    "_ZN25ModRefBarrierSetAssembler8store_atEP14MacroAssemblerm9BasicType7Address8RegisterS4_S4_",
    "_ZN25ModRefBarrierSetAssembler8store_atEP14MacroAssemblerm9BasicType7Address8RegisterS4_S4_S4_"};

constexpr std::array<MethodNeed, 2> methods_of(std::string_view assembler) {
  return {{
      {.name = kC2CallLeafVector, .class_name = "CallLeafDirectVectorNode", .functions = kCallLeafVector},
      {.name = ordering::kInterpreterStoreAt, .class_name = assembler, .functions = kInterpreterStore},
  }};
}

}  // namespace memgraft::hotspot::ordering::isa
