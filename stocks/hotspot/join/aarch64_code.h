// AArch64 machine code, as far as entering functions needs it. No part of it runs the code, so that it is
// tested on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace memgraft::hotspot::aarch64 {

// A jump to anywhere: two instructions and the address.
inline constexpr std::size_t kJumpBytes = 16;
using Jump = std::array<std::byte, kJumpBytes>;
Jump jump_to(std::uintptr_t target);

// Whether the first `kJumpBytes` of `function` may be run from another place: only instructions that save
// registers and make a frame, and no branch of the function leads among them.
bool may_be_moved(std::span<const std::byte> function);

// The number of calls in `code`, where it is loaded, that lead to `target` directly.
std::size_t calls_to(std::span<const std::byte> code, std::uintptr_t target);

}  // namespace memgraft::hotspot::aarch64
