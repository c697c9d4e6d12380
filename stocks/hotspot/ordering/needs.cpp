#include "ordering/needs.h"

#include <algorithm>
#include <array>

#include "ordering/annotations.h"
#include "ordering/c2_graph.h"
#include "ordering/method_names.h"
#ifdef __aarch64__
#include "ordering/needs_aarch64.h"
#else
#include "ordering/needs_x86_64.h"
#endif

namespace memgraft::hotspot {

namespace {

constexpr std::array kKnownCollectors{Collector::serial, Collector::parallel, Collector::g1};
constexpr std::array<FlagNeed, 7> kFlags{{
    {.name = "UseJVMCICompiler",
     .value = false,
     .option = "the compilers C1 and C2, not one in Java (-XX:-UseJVMCICompiler)",
     .may_be_absent = true},
    // With it, native methods (Unsafe's in the interpreter) come back without a fence; since JDK 20.
    {.name = "UseSystemMemoryBarrier",
     .value = false,
     .option = "-XX:-UseSystemMemoryBarrier",
     .may_be_absent = true},
    // Moves loads of array elements and fields out of loops, whatever their ordering.
    {.name = "UseLoopInvariantCodeMotion", .value = false, .option = "-XX:-UseLoopInvariantCodeMotion"},
    // Native code's GetIntField and its like, without the fence of entering the JVM.
    {.name = "UseFastJNIAccessors", .value = false, .option = "-XX:-UseFastJNIAccessors"},
    // Replaces StringBuilders by raw stores.
    {.name = "OptimizeStringConcat", .value = false, .option = "-XX:-OptimizeStringConcat"},
    // Replaces loops of stores by a call of a stub.
    {.name = "OptimizeFill", .value = false, .option = "-XX:-OptimizeFill"},
    // jdk.incubator.vector's loads and stores of arrays.
    {.name = "EnableVectorSupport",
     .value = false,
     .option = "no jdk.incubator.vector, or -XX:+UnlockExperimentalVMOptions -XX:-EnableVectorSupport"},
}};

using Spellings = std::array<std::string_view, 2>;
// JDK 17; JDK 21 and 25. Where both are the same there is one. Each name stands here whole, as libjvm spells
// it: whoever looks for one finds it.
constexpr std::array<std::string_view, 1> kC2Store{"_ZNK12BarrierSetC28store_atER8C2AccessR13C2AccessValue"};
constexpr std::array<std::string_view, 1> kC2Load{"_ZNK12BarrierSetC27load_atER8C2AccessPK4Type"};
constexpr std::array<std::string_view, 1> kC2CompareValue{
    "_ZNK12BarrierSetC221atomic_cmpxchg_val_atER19C2AtomicParseAccessP4NodeS3_PK4Type"};
constexpr std::array<std::string_view, 1> kC2CompareBool{
    "_ZNK12BarrierSetC222atomic_cmpxchg_bool_atER19C2AtomicParseAccessP4NodeS3_PK4Type"};
constexpr std::array<std::string_view, 1> kC2Exchange{
    "_ZNK12BarrierSetC214atomic_xchg_atER19C2AtomicParseAccessP4NodePK4Type"};
constexpr std::array<std::string_view, 1> kC2Add{
    "_ZNK12BarrierSetC213atomic_add_atER19C2AtomicParseAccessP4NodePK4Type"};
constexpr std::array<std::string_view, 1> kC2AfterParsing{
    "_ZNK12BarrierSetC229eliminate_useless_gc_barriersER16Unique_Node_ListP7Compile"};
// The base class's, and G1's own since JDK 24.
constexpr std::array<std::string_view, 1> kC2Begin{"_ZNK12BarrierSetC220create_barrier_stateEP5Arena"};
constexpr Spellings kC2BeginG1{"_ZNK14G1BarrierSetC220create_barrier_stateEP5Arena", kC2Begin[0]};
constexpr std::array<std::string_view, 1> kC2ExpandBarriers{
    "_ZNK12BarrierSetC215expand_barriersEP7CompileR12PhaseIterGVN"};
constexpr Spellings kC2ExpandBarriersG1{"_ZNK14G1BarrierSetC215expand_barriersEP7CompileR12PhaseIterGVN",
                                        kC2ExpandBarriers[0]};
constexpr Spellings kCallLeaf{"_ZNK18CallLeafDirectNode4emitER10CodeBufferP13PhaseRegAlloc",
                              "_ZNK18CallLeafDirectNode4emitEP17C2_MacroAssemblerP13PhaseRegAlloc"};
constexpr Spellings kCallLeafNoFp{"_ZNK22CallLeafNoFPDirectNode4emitER10CodeBufferP13PhaseRegAlloc",
                                  "_ZNK22CallLeafNoFPDirectNode4emitEP17C2_MacroAssemblerP13PhaseRegAlloc"};
constexpr Spellings kEpilog{"_ZNK14MachEpilogNode4emitER10CodeBufferP13PhaseRegAlloc",
                            "_ZNK14MachEpilogNode4emitEP17C2_MacroAssemblerP13PhaseRegAlloc"};
constexpr Spellings kFence{"_ZNK19membar_volatileNode4emitER10CodeBufferP13PhaseRegAlloc",
                           "_ZNK19membar_volatileNode4emitEP17C2_MacroAssemblerP13PhaseRegAlloc"};
constexpr Spellings kC1Store{"_ZN12BarrierSetC18store_atER9LIRAccessP11LIR_OprDesc",
                             "_ZN12BarrierSetC18store_atER9LIRAccess7LIR_Opr"};
constexpr Spellings kC1Load{"_ZN12BarrierSetC17load_atER9LIRAccessP11LIR_OprDesc",
                            "_ZN12BarrierSetC17load_atER9LIRAccess7LIR_Opr"};
constexpr std::array<std::string_view, 1> kC1Copy{"_ZN15LIR_OpArrayCopy9emit_codeEP13LIR_Assembler"};
constexpr std::array<std::string_view, 1> kC1Hash{"_ZNK11LoadIndexed4hashEv"};
constexpr std::array<std::string_view, 1> kC1CompileMethod{
    "_ZN8Compiler14compile_methodEP5ciEnvP8ciMethodibP12DirectiveSet"};
constexpr std::array<std::string_view, 1> kC2CompileMethod{
    "_ZN10C2Compiler14compile_methodEP5ciEnvP8ciMethodibP12DirectiveSet"};

template <typename T, std::size_t kFirst, std::size_t kSecond>
constexpr std::array<T, kFirst + kSecond> joined(const std::array<T, kFirst>& first,
                                                 const std::array<T, kSecond>& second) {
  std::array<T, kFirst + kSecond> both{};
  std::copy(first.begin(), first.end(), both.begin());
  std::copy(second.begin(), second.end(), both.begin() + kFirst);
  return both;
}

constexpr auto kFunctions =
    joined(std::array<std::string_view, 5>{ordering::kC1Membar, ordering::kAddressType,
                                           ordering::kFindAliasType, kMethodText, kMethodAnnotations},
           ordering::isa::kFunctions);
constexpr std::array<std::string_view, 5> kData{ordering::kParseAccessVtable, ordering::kAtomicAccessVtable,
                                                ordering::kDisableIntrinsic, ordering::kLargestInlineCopy,
                                                ordering::kLargestVectorCopy};
constexpr std::array<EntryNeed, 3> kEntries{{{.function = ordering::kFieldFlags},
                                             {.function = ordering::kUncommonTrap},
                                             {.function = ordering::kPollTaken}}};

// What differs are the classes of the barrier sets, and what of C2's these have themselves.
struct C2Functions {
  std::span<const std::string_view> begin;
  std::span<const std::string_view> expand_barriers;
};

constexpr auto methods_of(std::string_view c2, std::string_view c1, std::string_view assembler,
                          C2Functions own) {
  return joined(
      std::array<MethodNeed, 19>{{
          {.name = ordering::kC2Begin, .class_name = c2, .functions = own.begin},
          {.name = ordering::kC2ExpandBarriers, .class_name = c2, .functions = own.expand_barriers},
          {.name = ordering::kC2StoreAt, .class_name = c2, .functions = kC2Store},
          {.name = ordering::kC2LoadAt, .class_name = c2, .functions = kC2Load},
          {.name = ordering::kC2CompareValueAt, .class_name = c2, .functions = kC2CompareValue},
          {.name = ordering::kC2CompareBoolAt, .class_name = c2, .functions = kC2CompareBool},
          {.name = ordering::kC2ExchangeAt, .class_name = c2, .functions = kC2Exchange},
          {.name = ordering::kC2AddAt, .class_name = c2, .functions = kC2Add},
          {.name = ordering::kC2AfterParsing, .class_name = c2, .functions = kC2AfterParsing},
          {.name = ordering::kC2CallLeaf, .class_name = "CallLeafDirectNode", .functions = kCallLeaf},
          {.name = ordering::kC2CallLeafNoFp,
           .class_name = "CallLeafNoFPDirectNode",
           .functions = kCallLeafNoFp},
          {.name = ordering::kC2Epilog, .class_name = "MachEpilogNode", .functions = kEpilog},
          {.name = ordering::kC2Fence, .class_name = "membar_volatileNode", .functions = kFence},
          {.name = ordering::kC1StoreAt, .class_name = c1, .functions = kC1Store},
          {.name = ordering::kC1LoadAt, .class_name = c1, .functions = kC1Load},
          {.name = ordering::kC1ArrayCopy, .class_name = "LIR_OpArrayCopy", .functions = kC1Copy},
          {.name = ordering::kC1LoadIndexedHash, .class_name = "LoadIndexed", .functions = kC1Hash},
          {.name = ordering::kC2Compile, .class_name = "C2Compiler", .functions = kC2CompileMethod},
          {.name = ordering::kC1Compile, .class_name = "Compiler", .functions = kC1CompileMethod},
      }},
      ordering::isa::methods_of(assembler));
}

constexpr auto kCardTableMethods =
    methods_of("CardTableBarrierSetC2", "CardTableBarrierSetC1", "CardTableBarrierSetAssembler",
               {.begin = kC2Begin, .expand_barriers = kC2ExpandBarriers});
constexpr auto kG1Methods = methods_of("G1BarrierSetC2", "G1BarrierSetC1", "G1BarrierSetAssembler",
                                       {.begin = kC2BeginG1, .expand_barriers = kC2ExpandBarriersG1});

constexpr Needs needs_with(std::span<const MethodNeed> methods) {
  return {.graft = "ordering",
          .features = ordering::isa::kFeatures,
          .collectors = kKnownCollectors,
          .flags = kFlags,
          .slots = {},
          .imports = {},
          .functions = kFunctions,
          .data = kData,
          .methods = methods,
          .entries = kEntries,
          .size_flags = {},
          .annotations = true,
          .otherwise = "use --engine bytecode, which takes any collector",
          .otherwise_from = 17};
}

}  // namespace

constinit const Needs kOrderingNeeds = needs_with(kCardTableMethods);
constinit const Needs kOrderingG1Needs = needs_with(kG1Methods);

const Needs kOrderingNodes{.graft = "ordering",
                           .features = ordering::isa::kFeatures,
                           .collectors = kKnownCollectors,
                           .flags = {},
                           .slots = {},
                           .imports = {},
                           .functions = {},
                           .data = c2::node_vtables(),
                           .methods = {},
                           .entries = {},
                           .size_flags = {}};

constinit const Needs kOrderingInstructions{.graft = "ordering",
                                            .features = ordering::isa::kFeatures,
                                            .collectors = kKnownCollectors,
                                            .flags = {},
                                            .slots = {},
                                            .imports = {},
                                            .functions = {},
                                            .data = ordering::isa::kInstructions,
                                            .methods = {},
                                            .entries = {},
                                            .size_flags = {}};

const Needs& ordering_needs(Collector collector) {
  return collector == Collector::g1 ? kOrderingG1Needs : kOrderingNeeds;
}

}  // namespace memgraft::hotspot
