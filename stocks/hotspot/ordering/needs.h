// What the ordering graft needs of HotSpot, and the names by which its joints are asked for.
#pragma once

#include <string_view>

#include "join/needs.h"

namespace memgraft::hotspot {

// The barrier sets of the Serial and Parallel collectors, and those of G1; everything else is the same.
extern const Needs kOrderingNeeds;
extern const Needs kOrderingG1Needs;
// Symbols that are looked for, and may be missing: the virtual tables of C2's nodes, and of its instructions.
extern const Needs kOrderingNodes;
extern const Needs kOrderingInstructions;

const Needs& ordering_needs(Collector collector);

// The joints, by what each is.
namespace ordering {

inline constexpr std::string_view kC2StoreAt = "BarrierSetC2::store_at";
inline constexpr std::string_view kC2LoadAt = "BarrierSetC2::load_at";
inline constexpr std::string_view kC2CompareValueAt = "BarrierSetC2::atomic_cmpxchg_val_at";
inline constexpr std::string_view kC2CompareBoolAt = "BarrierSetC2::atomic_cmpxchg_bool_at";
inline constexpr std::string_view kC2ExchangeAt = "BarrierSetC2::atomic_xchg_at";
inline constexpr std::string_view kC2AddAt = "BarrierSetC2::atomic_add_at";
inline constexpr std::string_view kC2CallLeaf = "CallLeafDirectNode::emit";
inline constexpr std::string_view kC2CallLeafNoFp = "CallLeafNoFPDirectNode::emit";
inline constexpr std::string_view kC2AfterParsing = "BarrierSetC2::eliminate_useless_gc_barriers";
inline constexpr std::string_view kC2Begin = "BarrierSetC2::create_barrier_state";
inline constexpr std::string_view kC2ExpandBarriers = "BarrierSetC2::expand_barriers";
inline constexpr std::string_view kC2Epilog = "MachEpilogNode::emit";
inline constexpr std::string_view kC2Fence = "membar_volatileNode::emit";
inline constexpr std::string_view kC1StoreAt = "BarrierSetC1::store_at";
inline constexpr std::string_view kC1LoadAt = "BarrierSetC1::load_at";
inline constexpr std::string_view kC1ArrayCopy = "LIR_OpArrayCopy::emit_code";
inline constexpr std::string_view kC1LoadIndexedHash = "LoadIndexed::hash";
inline constexpr std::string_view kC2Compile = "C2Compiler::compile_method";
inline constexpr std::string_view kC1Compile = "Compiler::compile_method";
inline constexpr std::string_view kC1Membar = "_ZN13LIR_Assembler6membarEv";
inline constexpr std::string_view kFieldFlags = "_ZN7ciField15initialize_fromEP15fieldDescriptor";
inline constexpr std::string_view kUncommonTrap = "_ZN14Deoptimization13uncommon_trapEP10JavaThreadii";
inline constexpr std::string_view kPollTaken = "_ZN20ThreadSafepointState29handle_polling_page_exceptionEv";
inline constexpr std::string_view kInterpreterStoreAt = "BarrierSetAssembler::store_at";
inline constexpr std::string_view kAddressType = "_ZNK7MemNode8adr_typeEv";
inline constexpr std::string_view kFindAliasType = "_ZN7Compile15find_alias_typeEPK7TypePtrbP7ciField";
inline constexpr std::string_view kParseAccessVtable = "_ZTV13C2ParseAccess";
inline constexpr std::string_view kAtomicAccessVtable = "_ZTV19C2AtomicParseAccess";
inline constexpr std::string_view kDisableIntrinsic = "DisableIntrinsic";
inline constexpr std::string_view kLargestInlineCopy = "ArrayCopyLoadStoreMaxElem";
inline constexpr std::string_view kLargestVectorCopy = "ArrayOperationPartialInlineSize";

}  // namespace ordering

}  // namespace memgraft::hotspot
