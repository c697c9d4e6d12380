#include "ordering/c2_exits.h"

#include <cstdint>
#include <string_view>

#include "join/entry.h"
#include "ordering/machine.h"
#include "ordering/needs.h"

namespace memgraft::hotspot::c2 {

namespace {

struct Originals {
  void* (*uncommon_trap)(void*, std::int32_t, std::int32_t) = nullptr;
  void (*poll_taken)(void*) = nullptr;
};

Originals original;

// Where compiled code gives up, the interpreter goes on, whose loads its stores must not follow.
void* uncommon_trap(void* thread, std::int32_t request, std::int32_t mode) {
  machine::full_fence();
  return original.uncommon_trap(thread, request, mode);
}

// The same where a poll stops a thread: its method may no longer be good when it goes on.
void poll_taken(void* thread_state) {
  machine::full_fence();
  original.poll_taken(thread_state);
}

template <typename Function>
void hook(std::string_view name, Function& original_function, Function replacement, const Stock& stock,
          Patch& patch) {
  original_function = reinterpret_cast<Function>(
      hook_entry(patch, stock.code(name).function, reinterpret_cast<std::uintptr_t>(replacement)));
}

}  // namespace

void fence_exits(const Stock& stock, Patch& patch) {
  hook(ordering::kUncommonTrap, original.uncommon_trap, &uncommon_trap, stock, patch);
  hook(ordering::kPollTaken, original.poll_taken, &poll_taken, stock, patch);
}

}  // namespace memgraft::hotspot::c2
