#include <array>
#include <atomic>
#include <type_traits>

#include "ordering/machine.h"
#include "ordering/needs_x86_64.h"

namespace memgraft::hotspot::machine {

namespace {

// Arguments that come on the stack: HotSpot's Address is one, and what follows it depends on the version.
// They are handed on as they are; more of them than there are does no harm.
struct StackArguments {
  std::array<std::uintptr_t, 16> words;
};

// asm/assembler_x86.hpp
constexpr int kStoreLoad = 1 << 1;

struct State {
  Shared shared{};
  void (*c2_call_leaf_vector)(const void*, void*, void*) = nullptr;
  void (*interpreter_store_at)(void*, void*, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                               StackArguments) = nullptr;
  void (*assembler_membar)(void*, int) = nullptr;
  std::atomic<std::uint64_t> interpreter_stores{0};
};

State the_state;

State& state() { return the_state; }

void c2_call_leaf_vector(const void* node, void* assembler, void* registers) {
  state().c2_call_leaf_vector(node, assembler, registers);
  state().shared.c2_fence(node, assembler, registers);
}

void interpreter_store_at(void* self, void* assembler, std::uint64_t decorators, std::uint64_t type,
                          std::uint64_t first, std::uint64_t second, StackArguments rest) {
  state().interpreter_store_at(self, assembler, decorators, type, first, second, rest);
  state().assembler_membar(assembler, kStoreLoad);
  state().interpreter_stores.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

OrderingOptions joinable(const OrderingOptions& options, const Stock& /*stock*/) { return options; }

void install(const OrderingOptions& /*options*/, const Joints& joints, const Stock& /*stock*/,
             const Shared& shared, Patch& patch) {
  namespace isa = ordering::isa;
  State& mine = state();
  mine.shared = shared;
  // The joint was checked to be this function's.
  mine.assembler_membar =
      reinterpret_cast<decltype(mine.assembler_membar)>(joints.at(isa::kAssemblerMembar).original);
  take_over(patch, joints.at(isa::kC2CallLeafVector), mine.c2_call_leaf_vector, &c2_call_leaf_vector);
  take_over(patch, joints.at(ordering::kInterpreterStoreAt), mine.interpreter_store_at,
            &interpreter_store_at);
}

Counts counts() { return {.interpreter_stores = state().interpreter_stores.load(std::memory_order_relaxed)}; }

// Loads stay in order with what comes before, but for stores, which have fences behind them.
void full_fence() {
  // A locked instruction, whatever it exchanges.
  static std::atomic<int> anything{0};
  anything.exchange(1);
}

bool stubs_may_be_early() { return false; }

std::string_view intrinsics_off() { return ""; }

// It is the same instruction.
bool must_stay_plain(const c2::Access& /*access*/, const c2::Layout& /*layout*/) { return false; }

void insert_c2_fence(const c2::GraphKit* /*kit*/, void* /*access*/) {}

bool stores_have_own_fences() { return true; }

}  // namespace memgraft::hotspot::machine
