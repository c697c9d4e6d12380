// What the ordering graft needs on AArch64 besides what it needs everywhere. For needs.cpp and
// machine_aarch64.cpp only.
#pragma once

#include <array>
#include <string_view>

#include "join/needs.h"
#include "ordering/needs.h"

namespace memgraft::hotspot::ordering::isa {

// The versions that it runs on in tests, under an emulator.
inline constexpr std::array kFeatures{21, 25};

inline constexpr std::string_view kInterpreterLoadAt = "BarrierSetAssembler::load_at";
inline constexpr std::string_view kC2ElidedAcquire = "unnecessary_membar_acquireNode::emit";
inline constexpr std::string_view kC1LeafCall = "LIR_OpRTCall::emit_code";
inline constexpr std::string_view kAssemblerMembar =
    "_ZN14MacroAssembler6membarEN9Assembler16Membar_mask_bitsE";

// Predicates of C2's matcher (cpu/aarch64/aarch64.ad): whether an access becomes ldar or stlr, and whether
// the barriers around it are instructions.
inline constexpr std::string_view kNeedsAcquiringLoad = "_Z20needs_acquiring_loadPK4Node";
inline constexpr std::string_view kNeedsReleasingStore = "_Z21needs_releasing_storePK4Node";
inline constexpr std::string_view kElidesAcquire = "_Z19unnecessary_acquirePK4Node";
inline constexpr std::string_view kElidesRelease = "_Z19unnecessary_releasePK4Node";
inline constexpr std::string_view kElidesFence = "_Z20unnecessary_volatilePK4Node";
// Where the matcher asks for each of them. All of it is one source file, and they are in another: what is
// called in one place is inlined in none.
inline constexpr std::string_view kMatchLoad = "_ZN5State13_sub_Op_LoadIEPK4Node";
inline constexpr std::string_view kMatchStore = "_ZN5State14_sub_Op_StoreIEPK4Node";
inline constexpr std::string_view kMatchAcquire = "_ZN5State21_sub_Op_MemBarAcquireEPK4Node";
inline constexpr std::string_view kMatchRelease = "_ZN5State21_sub_Op_MemBarReleaseEPK4Node";
inline constexpr std::string_view kMatchFence = "_ZN5State22_sub_Op_MemBarVolatileEPK4Node";
// A barrier of C2's graph, and the number of its kind, which every build has its own of.
inline constexpr std::string_view kInsertBarrier = "_ZN8GraphKit14insert_mem_barEiP4Node";
inline constexpr std::string_view kFenceOpcode = "_ZNK18MemBarVolatileNode6OpcodeEv";
// Since JDK 24, what C2 loads referents with under G1 (gc/g1/g1_aarch64.ad). Where there is the first and not
// the second, C2 compiles no method with such a load once it is ordered: it has no instruction for it.
inline constexpr std::string_view kLoadWithBarrier = "_ZTV11g1LoadNNode";
inline constexpr std::string_view kOrderedLoadWithBarrier = "_ZTV19g1LoadNVolatileNode";
inline constexpr std::array kInstructions{kLoadWithBarrier, kOrderedLoadWithBarrier};
// Code of the interpreter that reads arrays without a barrier. Without it there is what Java or native code
// does.
inline constexpr std::string_view kInterpreterCrc32 =
    "_ZN28TemplateInterpreterGenerator32generate_CRC32_updateBytes_entryEN19AbstractInterpreter10MethodKindE";
inline constexpr std::string_view kInterpreterCrc32C =
    "_ZN28TemplateInterpreterGenerator33generate_CRC32C_updateBytes_"
    "entryEN19AbstractInterpreter10MethodKindE";

inline constexpr std::array kFunctions{
    kAssemblerMembar, kInsertBarrier,    kFenceOpcode,       kNeedsAcquiringLoad, kNeedsReleasingStore,
    kElidesAcquire,   kElidesFence,      kMatchLoad,         kMatchStore,         kMatchAcquire,
    kMatchFence,      kInterpreterCrc32, kInterpreterCrc32C, kElidesRelease,      kMatchRelease};

// ModRefBarrierSetAssembler is the base of those of all three collectors, and only G1's has loads of its own.
inline constexpr std::array<std::string_view, 1> kInterpreterStore{
    "_ZN25ModRefBarrierSetAssembler8store_atEP14MacroAssemblerm9BasicType7Address8RegisterS4_S4_S4_"};
inline constexpr std::array<std::string_view, 1> kInterpreterLoad{
    "_ZN19BarrierSetAssembler7load_atEP14MacroAssemblerm9BasicType8Register7AddressS3_S3_"};
inline constexpr std::array<std::string_view, 1> kInterpreterLoadG1{
    "_ZN21G1BarrierSetAssembler7load_atEP14MacroAssemblerm9BasicType8Register7AddressS3_S3_"};
inline constexpr std::array<std::string_view, 2> kElidedAcquire{
    "_ZNK30unnecessary_membar_acquireNode4emitER10CodeBufferP13PhaseRegAlloc",
    "_ZNK30unnecessary_membar_acquireNode4emitEP17C2_MacroAssemblerP13PhaseRegAlloc"};
inline constexpr std::array<std::string_view, 1> kLeafCall{"_ZN12LIR_OpRTCall9emit_codeEP13LIR_Assembler"};

constexpr std::array<MethodNeed, 4> methods_of(std::string_view assembler) {
  const bool g1 = assembler.starts_with("G1");
  return {{
      {.name = ordering::kInterpreterStoreAt, .class_name = assembler, .functions = kInterpreterStore},
      {.name = kInterpreterLoadAt,
       .class_name = assembler,
       .functions = g1 ? kInterpreterLoadG1 : kInterpreterLoad},
      {.name = kC2ElidedAcquire, .class_name = "unnecessary_membar_acquireNode", .functions = kElidedAcquire},
      {.name = kC1LeafCall, .class_name = "LIR_OpRTCall", .functions = kLeafCall},
  }};
}

}  // namespace memgraft::hotspot::ordering::isa
