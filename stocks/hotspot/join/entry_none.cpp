// No function's entry can be judged on this instruction set, so none is taken.
#include <stdexcept>

#include "join/entry.h"

namespace memgraft::hotspot {

bool can_hook_entry(std::span<const std::byte> /*function*/) { return false; }

std::uintptr_t hook_entry(Patch& /*patch*/, std::span<const std::byte> /*function*/,
                          std::uintptr_t /*replacement*/) {
  throw std::logic_error("no entry can be hooked on this instruction set");
}

}  // namespace memgraft::hotspot
