// Encodings: Intel SDM vol. 2. A function's first instructions as GCC and Clang write them.
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "join/entry.h"

namespace memgraft::hotspot {

namespace {

using Code = std::span<const std::byte>;

constexpr std::byte operator""_b(unsigned long long value) { return static_cast<std::byte>(value); }

// movabs rax, TARGET; jmp rax. Neither an argument nor anything a callee must keep is in rax, but for the
// number of vector registers of a function with a variable number of arguments, which these are not.
constexpr std::array kLoadRax{0x48_b, 0xb8_b};
constexpr std::array kJumpRax{0xff_b, 0xe0_b};
constexpr std::size_t kJumpBytes = kLoadRax.size() + sizeof(std::uintptr_t) + kJumpRax.size();

bool starts_with(Code code, std::initializer_list<std::byte> opcode) {
  return code.size() >= opcode.size() && std::equal(opcode.begin(), opcode.end(), code.begin());
}

// Both operands of the ModRM byte are registers.
bool registers_only(std::byte modrm) { return (modrm & 0xc0_b) == 0xc0_b; }

// The operand in memory is a register and 8 or 32 bits: no index, and not relative to the instruction itself.
bool near_register(std::byte modrm) { return (modrm & 0xc0_b) == 0x40_b && (modrm & 0x07_b) != 0x04_b; }
bool far_register(std::byte modrm) { return (modrm & 0xc0_b) == 0x80_b && (modrm & 0x07_b) != 0x04_b; }

// The length of the instruction at the start of `code` where it is one of those; 0 for any other.
std::size_t length_of(Code code) {
  if (starts_with(code, {0xf3_b, 0x0f_b, 0x1e_b, 0xfa_b})) {  // endbr64
    return 4;
  }
  const bool rex = !code.empty() && (code[0] & 0xf0_b) == 0x40_b;
  const Code rest = code.subspan(rex ? 1 : 0);
  const std::size_t prefix = rex ? 1 : 0;
  if (rest.empty()) {
    return 0;
  }
  if ((rest[0] & 0xf8_b) == 0x50_b) {  // push r64
    return prefix + 1;
  }
  if ((rest[0] == 0x89_b || rest[0] == 0x8b_b || rest[0] == 0x31_b) && rest.size() > 1 &&
      registers_only(rest[1])) {  // mov, xor between registers
    return prefix + 2;
  }
  if (rex && rest.size() > 2 && rest[0] == 0x8d_b && near_register(rest[1])) {  // lea r64, [r64 + disp8]
    return prefix + 3;
  }
  if (rex && rest.size() > 2 && rest[0] == 0x8d_b && far_register(rest[1])) {  // lea r64, [r64 + disp32]
    return prefix + 6;
  }
  if (rex && starts_with(rest, {0x83_b, 0xec_b})) {  // sub rsp, imm8
    return prefix + 3;
  }
  if (rex && starts_with(rest, {0x81_b, 0xec_b})) {  // sub rsp, imm32
    return prefix + 6;
  }
  return 0;
}

// How much must be moved so that a jump fits; 0 where it cannot be.
std::size_t movable_bytes(Code function) {
  std::size_t bytes = 0;
  while (bytes < kJumpBytes) {
    const std::size_t length = bytes < function.size() ? length_of(function.subspan(bytes)) : 0;
    if (length == 0) {
      return 0;
    }
    bytes += length;
  }
  return bytes <= function.size() ? bytes : 0;
}

std::vector<std::byte> jump_to(std::uintptr_t target) {
  std::vector<std::byte> jump(kLoadRax.begin(), kLoadRax.end());
  const auto* const bytes = reinterpret_cast<const std::byte*>(&target);
  jump.insert(jump.end(), bytes, bytes + sizeof target);
  jump.insert(jump.end(), kJumpRax.begin(), kJumpRax.end());
  return jump;
}

}  // namespace

bool can_hook_entry(Code function) { return movable_bytes(function) > 0; }

std::uintptr_t hook_entry(Patch& patch, Code function, std::uintptr_t replacement) {
  const std::size_t moved = movable_bytes(function);
  if (moved == 0) {
    throw std::logic_error("an entry that was not checked");
  }
  const auto address = reinterpret_cast<std::uintptr_t>(function.data());
  std::vector<std::byte> copy(function.begin(), function.begin() + static_cast<std::ptrdiff_t>(moved));
  // rax may hold something by the time the function goes on, so the way back is another one: jmp [rip+0].
  constexpr std::array kJumpThroughNext{0xff_b, 0x25_b, 0x00_b, 0x00_b, 0x00_b, 0x00_b};
  copy.insert(copy.end(), kJumpThroughNext.begin(), kJumpThroughNext.end());
  const std::uintptr_t back = address + moved;
  const auto* const back_bytes = reinterpret_cast<const std::byte*>(&back);
  copy.insert(copy.end(), back_bytes, back_bytes + sizeof back);

  // Lives as long as the process: somebody may be in it at any time.
  void* const place = mmap(nullptr, copy.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "mmap");
  }
  std::memcpy(place, copy.data(), copy.size());
  if (mprotect(place, copy.size(), PROT_READ | PROT_EXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "mprotect");
  }
  patch.replace_code(address, jump_to(replacement));
  return reinterpret_cast<std::uintptr_t>(place);
}

}  // namespace memgraft::hotspot
