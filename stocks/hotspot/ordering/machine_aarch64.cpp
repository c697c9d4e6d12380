// Which fences, and why they are enough: docs/ordering.md and ordering/mapping.
#include <atomic>
#include <string>
#include <type_traits>
#include <vector>

#include "join/aarch64_code.h"
#include "join/refusal.h"
#include "ordering/machine.h"
#include "ordering/needs.h"
#include "ordering/needs_aarch64.h"

namespace memgraft::hotspot::machine {

namespace {

namespace isa = ordering::isa;

// asm/assembler_aarch64.hpp: Membar_mask_bits are the options of `dmb`.
constexpr int kIshLd = 0b1001;
constexpr int kIsh = 0b1011;

// oops/accessDecorators.hpp: MO_ACQUIRE, MO_RELEASE and MO_SEQ_CST; ON_WEAK_OOP_REF and ON_PHANTOM_OOP_REF.
constexpr std::uint64_t kOrderedInStock = std::uint64_t{0b111} << 8U;
constexpr std::uint64_t kOfReferent = std::uint64_t{0b11} << 15U;

// The last of nine arguments is on the stack (AAPCS64, 6.8.2), and HotSpot's Address is a pointer: it has a
// copy constructor. Where a function has eight of them, the ninth is read and ignored.
using AccessAt = void (*)(void* self, void* assembler, std::uint64_t decorators, std::uint64_t type,
                          std::uint64_t fourth, std::uint64_t fifth, std::uint64_t sixth,
                          std::uint64_t seventh, std::uint64_t on_stack);

struct State {
  Shared shared{};
  bool seed = false;
  bool referents_stay_plain = false;
  AccessAt interpreter_store_at = nullptr;
  AccessAt interpreter_load_at = nullptr;
  void (*assembler_membar)(void*, int) = nullptr;
  void (*c2_elided_acquire)(const void*, void*, void*) = nullptr;
  void (*c2_fence)(const void*, void*, void*) = nullptr;
  void* (*c2_insert_barrier)(const c2::GraphKit*, int, void*) = nullptr;
  int (*c2_fence_opcode)(const void*) = nullptr;
  void (*c1_leaf_call)(void*, void*) = nullptr;
  void (*c1_membar)(void*) = nullptr;
  std::atomic<std::uint64_t> interpreter_loads{0};
  std::atomic<std::uint64_t> interpreter_stores{0};
};

State the_state;

State& state() { return the_state; }

// --- The interpreter ---

void fence(void* assembler, int option) { state().assembler_membar(assembler, option); }

void fence_before(void* assembler) {
  // C2's stlr has no fence behind it, and orders nothing with a plain access that follows.
  if (!state().seed) {
    fence(assembler, kIsh);
  }
}

void interpreter_store_at(void* self, void* assembler, std::uint64_t decorators, std::uint64_t type,
                          std::uint64_t fourth, std::uint64_t fifth, std::uint64_t sixth,
                          std::uint64_t seventh, std::uint64_t on_stack) {
  fence_before(assembler);
  state().interpreter_store_at(self, assembler, decorators, type, fourth, fifth, sixth, seventh, on_stack);
  fence(assembler, kIsh);
  state().interpreter_stores.fetch_add(1, std::memory_order_relaxed);
}

void interpreter_load_at(void* self, void* assembler, std::uint64_t decorators, std::uint64_t type,
                         std::uint64_t fourth, std::uint64_t fifth, std::uint64_t sixth,
                         std::uint64_t seventh, std::uint64_t on_stack) {
  fence_before(assembler);
  state().interpreter_load_at(self, assembler, decorators, type, fourth, fifth, sixth, seventh, on_stack);
  fence(assembler, kIshLd);
  state().interpreter_loads.fetch_add(1, std::memory_order_relaxed);
}

// In place of what generates code for it: the method is run as any other of its kind.
std::uintptr_t no_special_code(void* /*generator*/, int /*kind*/) { return 0; }

// --- C1 ---

// Calls of stubs that read arrays: CRC32.
void c1_leaf_call(void* operation, void* assembler) {
  state().c1_membar(assembler);
  state().c1_leaf_call(operation, assembler);
  state().shared.c1_fence(assembler);
}

// --- C2: the dissertation's fences, `ldr; dmb ishld` and `str; dmb ish` ---

bool never(const c2::Node* /*node*/) { return false; }

// Exchanges are ldaxr and stlxr, or one instruction that is both; their barrier is elided, see below.
bool is_of_exchange(const c2::Node* barrier) {
  const c2::Node* const access = barrier->inputs > c2::kPrecedent ? barrier->in[c2::kPrecedent] : nullptr;
  return access != nullptr && state().shared.graph->kind(access) == c2::Kind::load_store;
}

// Only behind exchanges are there still barriers to be elided, and behind stlxr a plain load needs a fence.
void c2_elided_acquire(const void* node, void* assembler, void* registers) {
  state().c2_fence(node, assembler, registers);
}

// A function that is never to run again, so that a jump may stand in it anywhere.
void replace_function(const Stock& stock, std::string_view name, std::uintptr_t replacement, Patch& patch) {
  const auto function = stock.code(name).function;
  if (function.size() < aarch64::kJumpBytes) {
    throw Refusal(
        "the ordering graft cannot join " + stock.description(),
        {.looked_for = "a jump's " + std::to_string(aarch64::kJumpBytes) + " bytes of " + std::string(name),
         .found = std::to_string(function.size()),
         .advice = "use another build of this JDK (Temurin's is tested), and report this one"},
        kExitCannotTakeGraft);
  }
  patch.replace_code(reinterpret_cast<std::uintptr_t>(function.data()), aarch64::jump_to(replacement));
}

struct Predicate {
  std::string_view name;
  std::string_view asked_by;
  bool (*replacement)(const c2::Node*);
};

void use_fences_of_table_4_1(bool keep_releases, const Joints& joints, const Stock& stock, Patch& patch) {
  std::vector<Predicate> predicates{
      {.name = isa::kNeedsAcquiringLoad, .asked_by = isa::kMatchLoad, .replacement = &never},
      {.name = isa::kNeedsReleasingStore, .asked_by = isa::kMatchStore, .replacement = &never},
      {.name = isa::kElidesFence, .asked_by = isa::kMatchFence, .replacement = &never},
      {.name = isa::kElidesAcquire, .asked_by = isa::kMatchAcquire, .replacement = &is_of_exchange},
  };
  if (keep_releases) {
    predicates.push_back(
        {.name = isa::kElidesRelease, .asked_by = isa::kMatchRelease, .replacement = &never});
  }
  for (const Predicate& predicate : predicates) {
    if (aarch64::calls_to(stock.code(predicate.asked_by).function, joints.at(predicate.name).original) == 0) {
      throw Refusal("the ordering graft cannot join " + stock.description(),
                    {.looked_for = "a call of " + std::string(predicate.name) + " in " +
                                   std::string(predicate.asked_by),
                     .found = "none",
                     .advice = "use --ordering sc, or another build of this JDK (Temurin's is tested)"},
                    kExitCannotTakeGraft);
    }
  }
  for (const Predicate& predicate : predicates) {
    replace_function(stock, predicate.name, reinterpret_cast<std::uintptr_t>(predicate.replacement), patch);
  }
  take_over(patch, joints.at(isa::kC2ElidedAcquire), state().c2_elided_acquire, &c2_elided_acquire);
}

}  // namespace

// C2's stlr has no fence behind it that could be joined with another's, or left out to be measured.
OrderingOptions joinable(const OrderingOptions& options, const Stock& stock) {
  if (options.savings.all_fences) {
    throw Refusal("the ordering graft cannot join " + stock.description(),
                  {.looked_for = "an x86-64 machine for ordering=" + options.placement,
                   .found = "AArch64",
                   .advice = "use --ordering sc or sc-seed"},
                  kExitCannotTakeGraft);
  }
  OrderingOptions possible = options;
  possible.savings.last_fences = false;
  return possible;
}

void install(const OrderingOptions& options, const Joints& joints, const Stock& stock, const Shared& shared,
             Patch& patch) {
  State& mine = state();
  mine.shared = shared;
  mine.seed = options.savings == OrderingOptions::Savings{};
  mine.referents_stay_plain = stock.symbol(isa::kLoadWithBarrier).has_value() &&
                              !stock.symbol(isa::kOrderedLoadWithBarrier).has_value();
  const auto function = [&joints](std::string_view name, auto& pointer) {
    // The joint was checked to be this function's.
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(joints.at(name).original);
  };
  function(isa::kAssemblerMembar, mine.assembler_membar);
  function(ordering::kC2Fence, mine.c2_fence);
  function(isa::kInsertBarrier, mine.c2_insert_barrier);
  function(isa::kFenceOpcode, mine.c2_fence_opcode);
  function(ordering::kC1Membar, mine.c1_membar);
  take_over<AccessAt>(patch, joints.at(ordering::kInterpreterStoreAt), mine.interpreter_store_at,
                      &interpreter_store_at);
  take_over<AccessAt>(patch, joints.at(isa::kInterpreterLoadAt), mine.interpreter_load_at,
                      &interpreter_load_at);
  take_over(patch, joints.at(isa::kC1LeafCall), mine.c1_leaf_call, &c1_leaf_call);
  for (const std::string_view generator : {isa::kInterpreterCrc32, isa::kInterpreterCrc32C}) {
    replace_function(stock, generator, reinterpret_cast<std::uintptr_t>(&no_special_code), patch);
  }
  if (mine.seed) {
    // Nothing is needed before a store where everything else has its fence; what is relaxed has none, and
    // Java's own volatile stores must come after it.
    use_fences_of_table_4_1(options.relaxed.has_value(), joints, stock, patch);
  }
}

Counts counts() {
  return {.interpreter_loads = state().interpreter_loads.load(std::memory_order_relaxed),
          .interpreter_stores = state().interpreter_stores.load(std::memory_order_relaxed)};
}

void full_fence() { __asm__ volatile("dmb ish" ::: "memory"); }

bool stubs_may_be_early() { return true; }

// StringBuilder.indexOf, whose array others may be writing to.
std::string_view intrinsics_off() { return ",_indexOfIL,_indexOfIU,_indexOfIUL"; }

// Unsafe's address may be any, and ldar and stlr fault where it is not aligned (Arm ARM, B2.5.2). Where the
// stock uses them itself, it is aligned. And for the referent of a Reference, G1 may have no ldar.
bool must_stay_plain(const c2::Access& access, const c2::Layout& layout) {
  const bool may_be_unaligned =
      (access.decorators & layout.unsafe_access()) != 0 && (access.decorators & kOrderedInStock) == 0;
  const bool has_no_other = state().referents_stay_plain && (access.decorators & kOfReferent) != 0;
  return !state().seed && (may_be_unaligned || has_no_other);
}

void insert_c2_fence(const c2::GraphKit* kit, void* access) {
  // The function ignores what node it is called for.
  (void)state().c2_insert_barrier(kit, state().c2_fence_opcode(nullptr), access);
}

// C2's stlr has none at all.
bool stores_have_own_fences() { return false; }

}  // namespace memgraft::hotspot::machine
