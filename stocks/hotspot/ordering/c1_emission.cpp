#include "ordering/c1_emission.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

#include "ordering/c1_check.h"
#include "ordering/code_section.h"
#include "ordering/method_names.h"
#include "ordering/needs.h"

namespace memgraft::hotspot::c1 {

namespace {

using Kind = Emission::Kind;

// --- The needs ---

struct Operation {
  std::string_view class_name;
  std::array<std::string_view, 1> emit;  // what its emit_code is
  Kind kind;
};

// c1/c1_LIR.hpp: every class whose operations the collectors that the graft knows let C1 emit. One that is
// missing here leaves code that nobody saw emitted, which c1_check finds.
constexpr std::array<Operation, 22> kOperations{{
    {"LIR_OpLabel", {"_ZN11LIR_OpLabel9emit_codeEP13LIR_Assembler"}, Kind::label},
    {"LIR_Op0", {"_ZN7LIR_Op09emit_codeEP13LIR_Assembler"}, Kind::simple},
    {"LIR_Op1", {"_ZN7LIR_Op19emit_codeEP13LIR_Assembler"}, Kind::move},
    {"LIR_Op2", {"_ZN7LIR_Op29emit_codeEP13LIR_Assembler"}, Kind::arithmetic},
    {"LIR_Op3", {"_ZN7LIR_Op39emit_codeEP13LIR_Assembler"}, Kind::arithmetic},
    // Has no result, and a card may be marked behind it.
    {"LIR_OpBranch", {"_ZN12LIR_OpBranch9emit_codeEP13LIR_Assembler"}, Kind::arithmetic},
    {"LIR_OpArrayCopy", {"_ZN15LIR_OpArrayCopy9emit_codeEP13LIR_Assembler"}, Kind::copy},
    {"LIR_OpReturn", {"_ZN7LIR_Op19emit_codeEP13LIR_Assembler"}, Kind::other},
    {"LIR_OpConvert", {"_ZN13LIR_OpConvert9emit_codeEP13LIR_Assembler"}, Kind::other},
    {"LIR_OpAllocObj", {"_ZN14LIR_OpAllocObj9emit_codeEP13LIR_Assembler"}, Kind::other},
    {"LIR_OpAllocArray", {"_ZN16LIR_OpAllocArray9emit_codeEP13LIR_Assembler"}, Kind::other},
    {"LIR_OpTypeCheck", {"_ZN15LIR_OpTypeCheck9emit_codeEP13LIR_Assembler"}, Kind::other},
    {"LIR_OpLock", {"_ZN10LIR_OpLock9emit_codeEP13LIR_Assembler"}, Kind::other},
    {"LIR_OpLoadKlass", {"_ZN15LIR_OpLoadKlass9emit_codeEP13LIR_Assembler"}, Kind::other},
    {"LIR_OpCompareAndSwap", {"_ZN20LIR_OpCompareAndSwap9emit_codeEP13LIR_Assembler"}, Kind::other},
    {"LIR_OpProfileCall", {"_ZN17LIR_OpProfileCall9emit_codeEP13LIR_Assembler"}, Kind::other},
    {"LIR_OpProfileType", {"_ZN17LIR_OpProfileType9emit_codeEP13LIR_Assembler"}, Kind::other},
    {"LIR_OpJavaCall", {"_ZN14LIR_OpJavaCall9emit_codeEP13LIR_Assembler"}, Kind::other},
    {"LIR_OpRTCall", {"_ZN12LIR_OpRTCall9emit_codeEP13LIR_Assembler"}, Kind::other},
    {"LIR_OpUpdateCRC32", {"_ZN17LIR_OpUpdateCRC329emit_codeEP13LIR_Assembler"}, Kind::other},
    // Not in every version.
    {"LIR_OpRoundFP", {"_ZN7LIR_Op19emit_codeEP13LIR_Assembler"}, Kind::other},
    {"LIR_Op4", {"_ZN7LIR_Op49emit_codeEP13LIR_Assembler"}, Kind::arithmetic},
}};
constexpr std::size_t kInEveryVersion = 20;
constexpr std::size_t kRoundFp = 20;
constexpr std::size_t kOp4 = 21;

constexpr MethodNeed need_of(const Operation& operation) {
  return {.name = operation.class_name, .class_name = operation.class_name, .functions = operation.emit};
}

// The last one is where a compilation begins and ends.
constexpr std::array<std::string_view, 1> kCompileMethod{
    "_ZN8Compiler14compile_methodEP5ciEnvP8ciMethodibP12DirectiveSet"};
constexpr MethodNeed kCompile{
    .name = ordering::kC1Compile, .class_name = "Compiler", .functions = kCompileMethod};

template <std::size_t... Extra>
constexpr std::array<MethodNeed, kInEveryVersion + sizeof...(Extra) + 1> methods_with() {
  std::array<MethodNeed, kInEveryVersion + sizeof...(Extra) + 1> methods{};
  for (std::size_t i = 0; i < kInEveryVersion; ++i) {
    methods.at(i) = need_of(kOperations.at(i));
  }
  std::size_t next = kInEveryVersion;
  ((methods.at(next++) = need_of(kOperations.at(Extra))), ...);
  methods.at(next) = kCompile;
  return methods;
}

constexpr auto kMethods17 = methods_with<kRoundFp>();
constexpr auto kMethods21 = methods_with<kRoundFp, kOp4>();
constexpr auto kMethods25 = methods_with<kOp4>();

constexpr std::string_view kAddressVtable = "_ZTV11LIR_Address";
constexpr std::string_view kConstantVtable = "_ZTV9LIR_Const";
constexpr std::array<std::string_view, 2> kData{kAddressVtable, kConstantVtable};
constexpr std::array<std::string_view, 1> kFunctions{kMethodText};
constexpr std::array kKnownCollectors{Collector::serial, Collector::parallel, Collector::g1};
constexpr std::array k17{17};
constexpr std::array k21{21};
constexpr std::array k25{25};

constexpr Needs needs_with(std::span<const int> features, std::span<const MethodNeed> methods) {
  return {.graft = "ordering",
          .features = features,
          .collectors = kKnownCollectors,
          .flags = {},
          .slots = {},
          .imports = {},
          .functions = kFunctions,
          .data = kData,
          .methods = methods,
          .entries = {},
          .size_flags = {}};
}

// --- HotSpot's types, as far as they are touched; JDK 17 to 25 ---

// c1/c1_LIR.hpp. An operand is a pointer to an address or a constant, or else, with the lowest bit set, a
// register or a slot.
struct LirOperation {
  std::uintptr_t vtable;
  std::uintptr_t result;
  std::array<std::uint64_t, 4> not_read;  // code, debug information, identity, source
  std::uintptr_t input;                   // of LIR_Op1
};
static_assert(offsetof(LirOperation, input) == 48);

struct LirAddress {
  std::uintptr_t vtable;
  std::uintptr_t base;
};

struct LirConstant {
  std::uintptr_t vtable;
  std::uint8_t type;  // BasicType; its lowest byte, where it has more
};

// utilities/globalDefinitions.hpp, BasicType; constants are of these types or are references.
constexpr std::uint8_t kFloat = 6;
constexpr std::uint8_t kDouble = 7;
constexpr std::uint8_t kInt = 10;
constexpr std::uint8_t kLong = 11;
constexpr std::uint8_t kAddress = 15;
constexpr std::uint8_t kMetadata = 17;

// LIR_Opr's lowest bits, and the number of a register: nine bits behind the flags, of which JDK 25 has one
// less.
constexpr std::uintptr_t kKindMask = 7;
constexpr std::uintptr_t kStackSlot = 1;
constexpr std::uintptr_t kGeneralRegister = 3;
constexpr std::uintptr_t kFloatRegister = 5;
constexpr std::uint32_t kRegisterMask = 0x1ff;
constexpr unsigned kFlagBits17 = 14;
constexpr unsigned kFlagBits25 = 13;
constexpr int kFirstWithFewerFlags = 25;

// c1/c1_LIRAssembler.hpp
struct LirAssembler {
  const MacroAssembler* assembler;
};

// --- The state ---

using Emit = void (*)(void* operation, void* assembler);
using CompileMethod = void (*)(void*, void*, void*, int, bool, void*);
using Counter = std::atomic<std::uint64_t>;

struct State {
  std::array<Emit, kOperations.size()> emit{};
  CompileMethod compile = nullptr;
  std::uintptr_t address_vtable = 0;
  std::uintptr_t constant_vtable = 0;
  unsigned flag_bits = 0;
  MethodNames names;

  Counter methods{0};
  Counter stores{0};
  Counter own{0};
  Counter unsafe{0};
  std::mutex mutex;
  std::vector<std::string> unsafe_methods;
};
constexpr std::size_t kMostNames = 20;

State the_state;

State& state() { return the_state; }

// The compilation that this thread is in.
struct Compilation {
  Check check;
  bool emitted = false;
};
thread_local Compilation* compilation = nullptr;

// --- Reading operations ---

int register_of(std::uintptr_t operand) {
  if ((operand & kKindMask) != kGeneralRegister) {
    return Operand::kNoRegister;
  }
  return static_cast<int>((static_cast<std::uint32_t>(operand) >> state().flag_bits) & kRegisterMask);
}

Operand decode(std::uintptr_t operand) {
  if (operand == 0) {
    return {};
  }
  if ((operand & 1) == 0) {
    // With the lowest bit clear it is a pointer to one of two classes.
    const auto* const address = reinterpret_cast<const LirAddress*>(operand);
    if (address->vtable == state().address_vtable) {
      return {.kind = Operand::Kind::memory, .general_register = register_of(address->base)};
    }
    if (address->vtable == state().constant_vtable) {
      switch (reinterpret_cast<const LirConstant*>(operand)->type) {
        case kFloat:
        case kDouble:
        case kInt:
        case kLong:
        case kAddress:
        case kMetadata:
          return {.kind = Operand::Kind::number};
        default:
          return {.kind = Operand::Kind::reference};
      }
    }
    return {.kind = Operand::Kind::unknown_place};
  }
  switch (operand & kKindMask) {
    case kStackSlot:
    case kFloatRegister:
      return {.kind = Operand::Kind::place};
    case kGeneralRegister:
      return {.kind = Operand::Kind::general, .general_register = register_of(operand)};
    default:
      return {};
  }
}

const CodeSection& section_of(const void* assembler) {
  return *static_cast<const LirAssembler*>(assembler)->assembler->section;
}

// --- The replacements ---

template <std::size_t Index>
void emit(void* operation, void* assembler) {
  const Emit original = state().emit.at(Index);
  if (compilation == nullptr) {
    original(operation, assembler);
    return;
  }
  // Before it is emitted: that may change operands.
  const auto* const lir = static_cast<const LirOperation*>(operation);
  constexpr Kind kKind = kOperations.at(Index).kind;
  Emission emission;
  emission.kind = kKind;
  emission.result = decode(lir->result);
  if constexpr (kKind == Kind::move) {
    emission.input = decode(lir->input);
  }
  emission.begin = section_of(assembler).size();
  original(operation, assembler);
  // The buffer may have moved.
  emission.code = section_of(assembler).from(emission.begin);
  compilation->check.emitted(emission);
  compilation->emitted = true;
}

template <std::size_t... Indices>
constexpr std::array<Emit, sizeof...(Indices)> replacements(std::index_sequence<Indices...> /*all*/) {
  return {&emit<Indices>...};
}

void compile(void* self, void* environment, void* method, int bci, bool install, void* directive) {
  Compilation here;
  compilation = &here;
  state().compile(self, environment, method, bci, install, directive);
  compilation = nullptr;
  if (!here.emitted) {
    return;
  }
  const Checked found = here.check.finish();
  const auto add = [](Counter& counter, std::uint64_t value) {
    counter.fetch_add(value, std::memory_order_relaxed);
  };
  add(state().methods, 1);
  add(state().stores, found.stores);
  add(state().own, found.own);
  if (found.unsafe > 0) {
    add(state().unsafe, found.unsafe);
    const std::scoped_lock lock(state().mutex);
    if (state().unsafe_methods.size() < kMostNames) {
      state().unsafe_methods.emplace_back(state().names.text(method));
    }
  }
}

// The ordering graft may have taken the slot over already: what is there now is what is called.
template <typename Function>
void stand_upon(Patch& patch, const Joint& joint, Function& original, Function replacement) {
  original = reinterpret_cast<Function>(*joint.cell);
  patch.replace(joint.cell, reinterpret_cast<std::uintptr_t>(replacement));
}

}  // namespace

constinit const Needs kEmissionNeeds17 = needs_with(k17, kMethods17);
constinit const Needs kEmissionNeeds21 = needs_with(k21, kMethods21);
constinit const Needs kEmissionNeeds25 = needs_with(k25, kMethods25);

const Needs& emission_needs(const Stock& stock) {
  switch (stock.identity().feature) {
    case k17.front():
      return kEmissionNeeds17;
    case k21.front():
      return kEmissionNeeds21;
    default:
      return kEmissionNeeds25;
  }
}

void install_emission(const Joints& joints, const Stock& stock, Patch& patch) {
  State& installed = state();
  // A virtual table's address is that of its first slot, behind two words (Itanium C++ ABI, 2.5.2).
  const auto vtable = [&joints](std::string_view name) {
    return reinterpret_cast<std::uintptr_t>(joints.at(name).cell + 2);
  };
  installed.address_vtable = vtable(kAddressVtable);
  installed.constant_vtable = vtable(kConstantVtable);
  installed.flag_bits = stock.identity().feature >= kFirstWithFewerFlags ? kFlagBits25 : kFlagBits17;
  installed.names = MethodNames(reinterpret_cast<MethodNames::Describe>(joints.at(kMethodText).original));

  constexpr auto kReplacements = replacements(std::make_index_sequence<kOperations.size()>());
  const std::span<const MethodNeed> present = emission_needs(stock).methods;
  for (std::size_t i = 0; i < kOperations.size(); ++i) {
    const std::string_view name = kOperations.at(i).class_name;
    for (const MethodNeed& need : present) {
      if (need.name == name) {
        stand_upon(patch, joints.at(name), installed.emit.at(i), kReplacements.at(i));
      }
    }
  }
  stand_upon(patch, joints.at(ordering::kC1Compile), installed.compile, &compile);
}

EmissionCounts emission_counts() {
  State& now = state();
  const auto value = [](const Counter& counter) { return counter.load(std::memory_order_relaxed); };
  const std::scoped_lock lock(now.mutex);
  return {.methods = value(now.methods),
          .stores = value(now.stores),
          .own = value(now.own),
          .unsafe = value(now.unsafe),
          .unsafe_methods = now.unsafe_methods};
}

}  // namespace memgraft::hotspot::c1
