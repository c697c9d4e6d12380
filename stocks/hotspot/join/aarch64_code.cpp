// Encodings: Arm Architecture Reference Manual (DDI 0487), C6.2.
#include "join/aarch64_code.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace memgraft::hotspot::aarch64 {

namespace {

using Code = std::span<const std::byte>;
using Instruction = std::uint32_t;

constexpr std::size_t kInstructionBytes = sizeof(Instruction);
// Registers that a call may destroy on its way (AAPCS64, 6.1.1): neither arguments nor kept by anybody.
constexpr Instruction kIntraCall0 = 16;
constexpr Instruction kIntraCall1 = 17;
constexpr Instruction kStackPointer = 31;

Instruction at(Code code, std::size_t offset) {
  Instruction instruction = 0;
  std::memcpy(&instruction, code.data() + offset, sizeof instruction);
  return instruction;
}

constexpr Instruction register_at(Instruction instruction, unsigned lowest_bit) {
  return (instruction >> lowest_bit) & 0x1fU;
}

constexpr bool is_kept(Instruction register_number) {
  return register_number != kIntraCall0 && register_number != kIntraCall1;
}

// Instructions that mean the same wherever they are, and leave the registers of the jump alone.
bool is_of_a_frame(Instruction instruction) {
  const auto is = [instruction](Instruction mask, Instruction bits) { return (instruction & mask) == bits; };
  const Instruction first = register_at(instruction, 0);
  const Instruction base = register_at(instruction, 5);
  const Instruction second = register_at(instruction, 10);
  const Instruction moved = register_at(instruction, 16);
  const bool on_stack = base == kStackPointer;
  if (is(0xffc00000U, 0xa9000000U) || is(0xffc00000U, 0xa9800000U)) {  // stp x, x, [sp, #n], or [sp, #n]!
    return on_stack && is_kept(first) && is_kept(second);
  }
  if (is(0xffc00000U, 0x6d000000U) || is(0xffc00000U, 0x6d800000U)) {  // stp d, d
    return on_stack;
  }
  if (is(0xffc00000U, 0xf9000000U) || is(0xffe00c00U, 0xf8000c00U)) {  // str x, [sp, #n], or [sp, #n]!
    return on_stack && is_kept(first);
  }
  if (is(0xff800000U, 0x91000000U) || is(0xff800000U, 0xd1000000U)) {  // add, sub x, sp, #n; mov x29, sp
    return on_stack && is_kept(first);
  }
  if (is(0x7fe0ffe0U, 0x2a0003e0U)) {  // mov between registers
    return is_kept(first) && is_kept(moved);
  }
  return is(0xffffffe0U, 0xd53bd040U) && is_kept(first);  // mrs x, tpidr_el0
}

// Where it leads to from `offset`, in bytes, if it is a direct branch or call.
std::optional<std::int64_t> target_of(Instruction instruction, std::int64_t offset) {
  const auto displacement = [instruction](unsigned lowest_bit, unsigned bits) {
    const auto shifted = static_cast<std::int32_t>(instruction << (32 - lowest_bit - bits));
    return std::int64_t{shifted >> (32 - bits)} * static_cast<std::int64_t>(kInstructionBytes);
  };
  if ((instruction & 0x7c000000U) == 0x14000000U) {  // b, bl
    return offset + displacement(0, 26);
  }
  if ((instruction & 0xff000000U) == 0x54000000U || (instruction & 0x7e000000U) == 0x34000000U) {  // b.c, cbz
    return offset + displacement(5, 19);
  }
  if ((instruction & 0x7e000000U) == 0x36000000U) {  // tbz, tbnz
    return offset + displacement(5, 14);
  }
  return std::nullopt;
}

}  // namespace

Jump jump_to(std::uintptr_t target) {
  constexpr std::array<Instruction, 2> kLoadAndJump{0x58000050U, 0xd61f0200U};  // ldr x16, #8; br x16
  static_assert(sizeof kLoadAndJump + sizeof target == kJumpBytes);
  Jump jump{};
  std::memcpy(jump.data(), kLoadAndJump.data(), sizeof kLoadAndJump);
  std::memcpy(jump.data() + sizeof kLoadAndJump, &target, sizeof target);
  return jump;
}

bool may_be_moved(Code function) {
  if (function.size() < kJumpBytes) {
    return false;
  }
  for (std::size_t offset = 0; offset < kJumpBytes; offset += kInstructionBytes) {
    if (!is_of_a_frame(at(function, offset))) {
      return false;
    }
  }
  for (std::size_t offset = kJumpBytes; offset + kInstructionBytes <= function.size();
       offset += kInstructionBytes) {
    const auto target = target_of(at(function, offset), static_cast<std::int64_t>(offset));
    // Back to the very start is a call of the function, which may well reach its replacement.
    if (target && *target > 0 && std::cmp_less(*target, kJumpBytes)) {
      return false;
    }
  }
  return true;
}

std::size_t calls_to(Code code, std::uintptr_t target) {
  const auto start = reinterpret_cast<std::uintptr_t>(code.data());
  std::size_t calls = 0;
  for (std::size_t offset = 0; offset + kInstructionBytes <= code.size(); offset += kInstructionBytes) {
    const Instruction instruction = at(code, offset);
    const bool is_call = (instruction & 0xfc000000U) == 0x94000000U;
    const auto leads_to = target_of(instruction, static_cast<std::int64_t>(offset));
    // What lies before the code wraps around, as addresses do.
    calls += is_call && leads_to && start + static_cast<std::uintptr_t>(*leads_to) == target ? 1U : 0U;
  }
  return calls;
}

}  // namespace memgraft::hotspot::aarch64
