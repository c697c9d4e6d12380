// Entering a function that is called directly: a jump at its first instruction, and a copy of what the jump
// overwrote, through which the function itself can still be called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "join/patch.h"

namespace memgraft::hotspot {

// Whether the first instructions of `function` may be run from another place: only those that every compiler
// begins functions with (saving registers, making a frame) are known, and no others are accepted.
bool can_hook_entry(std::span<const std::byte> function);

// From now on, calls of the function whose code this is reach `replacement`; the function itself is what is
// returned. Only before other threads can be calling it. Throws std::system_error when the kernel refuses,
// and std::logic_error where `can_hook_entry` does not hold.
std::uintptr_t hook_entry(Patch& patch, std::span<const std::byte> function, std::uintptr_t replacement);

}  // namespace memgraft::hotspot
