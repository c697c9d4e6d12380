#include "ordering/interpreter_emission.h"

#include <array>
#include <atomic>
#include <cstddef>

#include "ordering/c1_check.h"
#include "ordering/code_section.h"
#include "ordering/needs.h"

namespace memgraft::hotspot {

namespace {

// Arguments that come on the stack: HotSpot's Address is one, and what follows it depends on the version.
// They are handed on as they are; more of them than there are does no harm.
struct StackArguments {
  std::array<std::uintptr_t, 16> words;
};

using StoreAt = void (*)(void* self, void* assembler, std::uint64_t decorators, std::uint64_t type,
                         std::uint64_t first, std::uint64_t second, StackArguments rest);

StoreAt original = nullptr;
std::atomic<std::uint64_t> stores{0};
std::atomic<std::uint64_t> unsafe{0};

void store_at(void* self, void* assembler, std::uint64_t decorators, std::uint64_t type, std::uint64_t first,
              std::uint64_t second, StackArguments rest) {
  const auto* const code = static_cast<const MacroAssembler*>(assembler);
  const std::size_t begin = code->section->size();
  original(self, assembler, decorators, type, first, second, rest);
  stores.fetch_add(1, std::memory_order_relaxed);
  if (!c1::ends_with_fence(code->section->from(begin))) {
    unsafe.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

void install_interpreter_emission(const Joints& joints, Patch& patch) {
  const Joint& joint = joints.at(ordering::kInterpreterStoreAt);
  // What is in the slot by now: the graft's, or the stock's where it did not take it over.
  original = reinterpret_cast<StoreAt>(*joint.cell);
  patch.replace(joint.cell, reinterpret_cast<std::uintptr_t>(&store_at));
}

InterpreterEmissionCounts interpreter_emission_counts() {
  return {.stores = stores.load(std::memory_order_relaxed), .unsafe = unsafe.load(std::memory_order_relaxed)};
}

}  // namespace memgraft::hotspot
