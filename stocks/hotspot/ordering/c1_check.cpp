#include "ordering/c1_check.h"

namespace memgraft::hotspot::c1 {

namespace {

constexpr std::byte operator""_b(unsigned long long value) { return static_cast<std::byte>(value); }

// lock addl [rsp + disp8], 0 (Assembler::membar, cpu/x86/assembler_x86.cpp); the displacement is that of a
// line of the cache.
constexpr std::size_t kFenceBytes = 6;
constexpr std::size_t kFenceDisplacement = 4;
constexpr std::array<std::byte, kFenceBytes> kFence{0xf0_b, 0x83_b, 0x44_b, 0x24_b, 0_b, 0_b};

// shr r64, imm8 (REX.W, C1 /5, imm8): an address becomes the index of its card.
bool ends_with_card_shift(std::span<const std::byte> code) {
  constexpr std::size_t kShiftBytes = 4;
  // Cards have 128 to 1024 bytes (gc/shared/gc_globals.hpp, GCCardSizeInBytes; 512 before JDK 18).
  constexpr std::byte kLeastShift = 7_b;
  constexpr std::byte kLargestShift = 10_b;
  if (code.size() < kShiftBytes) {
    return false;
  }
  const auto shift = code.last<kShiftBytes>();
  return (shift[0] & 0xfe_b) == 0x48_b && shift[1] == 0xc1_b && (shift[2] & 0xf8_b) == 0xe8_b &&
         shift[3] >= kLeastShift && shift[3] <= kLargestShift;
}

// Whether what lies behind this code can be reached through it: not behind jmp rel8, jmp rel32, ret, and the
// call that throws (LIR_Assembler::throw_op: with a nop behind it).
bool falls_through(std::span<const std::byte> code) {
  constexpr std::size_t kShortJumpBytes = 2;
  constexpr std::size_t kJumpBytes = 5;
  constexpr std::size_t kThrowBytes = 6;
  if (code.empty()) {
    return true;
  }
  const bool jumps = (code.size() == kShortJumpBytes && code.front() == 0xeb_b) ||
                     (code.size() == kJumpBytes && code.front() == 0xe9_b);
  const bool throws =
      code.size() >= kThrowBytes && code.last<kThrowBytes>().front() == 0xe8_b && code.back() == 0x90_b;
  return !jumps && !throws && code.back() != 0xc3_b;
}

bool is_place(const Operand& operand) {
  return operand.kind == Operand::Kind::general || operand.kind == Operand::Kind::place;
}

bool is_general(const Operand& operand) {
  return operand.kind == Operand::Kind::general && operand.general_register >= 0 &&
         operand.general_register < kGeneralRegisters;
}

}  // namespace

bool ends_with_fence(std::span<const std::byte> code) {
  if (code.size() < kFenceBytes) {
    return false;
  }
  const auto last = code.last<kFenceBytes>();
  for (std::size_t i = 0; i < kFenceBytes; ++i) {
    if (i != kFenceDisplacement && last[i] != kFence.at(i)) {
      return false;
    }
  }
  return true;
}

// The allocator of registers gives a register that is read again to nothing else in between, so that what was
// put into it last is what it holds, up to the next label.
bool Check::is_own(const Operand& memory) const {
  const int base = memory.general_register;
  if (base == kThreadRegister || base == kStackRegister) {
    return true;
  }
  return base >= 0 && base < kGeneralRegisters &&
         origins_.at(static_cast<std::size_t>(base)) != Origin::unknown;
}

Check::Origin Check::origin_of(const Emission& emission) const {
  if (emission.kind == Emission::Kind::arithmetic) {
    return ends_with_card_shift(emission.code) ? Origin::card : Origin::unknown;
  }
  if (emission.kind != Emission::Kind::move) {
    return Origin::unknown;
  }
  if (emission.input.kind == Operand::Kind::number) {
    return Origin::number;
  }
  return is_general(emission.input) ? origins_.at(static_cast<std::size_t>(emission.input.general_register))
                                    : Origin::unknown;
}

void Check::missing_fence() {
  if (awaits_fence_) {
    awaits_fence_ = false;
    ++found_.unsafe;
  }
}

void Check::stored(const Emission& emission) {
  if (is_own(emission.result)) {
    ++found_.own;
    return;
  }
  ++found_.stores;
  awaits_fence_ = true;
}

void Check::emitted(const Emission& emission) {
  // Between blocks there is padding, and the stubs come before what leads to exception handlers; everywhere
  // else operation follows upon operation.
  if (reached_ && emission.begin != end_ && emission.kind != Emission::Kind::label) {
    ++found_.unsafe;
  }
  reached_ = falls_through(emission.code);
  end_ = emission.begin + emission.code.size();

  if (awaits_fence_) {
    if (emission.kind == Emission::Kind::simple && ends_with_fence(emission.code)) {
      awaits_fence_ = false;
      return;
    }
    // What moves from one register to another does not load.
    if (emission.kind != Emission::Kind::move || !is_place(emission.input) || !is_place(emission.result)) {
      missing_fence();
    }
  }

  switch (emission.kind) {
    case Emission::Kind::label:
    case Emission::Kind::other:
      origins_.fill(Origin::unknown);
      break;
    case Emission::Kind::copy:
      origins_.fill(Origin::unknown);
      ++found_.stores;
      if (!ends_with_fence(emission.code)) {
        ++found_.unsafe;
      }
      break;
    case Emission::Kind::simple:
      break;
    case Emission::Kind::move:
    case Emission::Kind::arithmetic:
      if (emission.result.kind == Operand::Kind::memory) {
        stored(emission);
      } else if (is_general(emission.result)) {
        origins_.at(static_cast<std::size_t>(emission.result.general_register)) = origin_of(emission);
      }
      break;
  }
}

Checked Check::finish() {
  missing_fence();
  return found_;
}

}  // namespace memgraft::hotspot::c1
