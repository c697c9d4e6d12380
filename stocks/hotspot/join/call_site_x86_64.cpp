// Encodings: Intel SDM vol. 2A, CALL and JMP. The scan may begin in the middle of an instruction, but a false
// hit would need four bytes that happen to be the displacement to exactly this import.
#include <algorithm>
#include <array>
#include <cstring>

#include "join/call_site.h"

namespace memgraft::hotspot {

namespace {

using Code = std::span<const std::byte>;
using Cells = std::span<std::uintptr_t* const>;

constexpr std::size_t kDisplacementBytes = 4;

constexpr std::byte operator""_b(unsigned long long value) { return static_cast<std::byte>(value); }

constexpr std::array kEndbr64{0xf3_b, 0x0f_b, 0x1e_b, 0xfa_b};
constexpr std::array kBndPrefix{0xf2_b};
constexpr std::array kJumpThroughCell{0xff_b, 0x25_b};  // jmp [rip + d32]
constexpr std::array kCallThroughCell{0xff_b, 0x15_b};  // call [rip + d32]
constexpr std::array kCallDirect{0xe8_b};               // call rip + d32

bool starts_with(Code code, Code opcode) {
  return code.size() >= opcode.size() && std::equal(opcode.begin(), opcode.end(), code.begin());
}

// The address that the instruction `opcode d32` at the start of `code` refers to; 0 when it is another one.
std::uintptr_t target_of(Code code, Code opcode) {
  if (code.size() < opcode.size() + kDisplacementBytes || !starts_with(code, opcode)) {
    return 0;
  }
  std::int32_t displacement = 0;
  std::memcpy(&displacement, code.data() + opcode.size(), kDisplacementBytes);
  // The code is looked at where it runs, so that its place in memory is the instruction's address.
  const auto next_instruction =
      reinterpret_cast<std::uintptr_t>(code.data()) + opcode.size() + kDisplacementBytes;
  return next_instruction + static_cast<std::uintptr_t>(std::intptr_t{displacement});
}

bool is_cell(std::uintptr_t address, Cells cells) {
  return std::ranges::any_of(cells, [address](const std::uintptr_t* cell) {
    // Only compared, never followed.
    return reinterpret_cast<std::uintptr_t>(cell) == address;
  });
}

// The forms that GNU ld and lld give to a stub in .plt, .plt.sec and .plt.got.
bool stub_leads_to(Code stub, Cells cells) {
  if (starts_with(stub, kEndbr64)) {
    stub = stub.subspan(kEndbr64.size());
  }
  if (starts_with(stub, kBndPrefix)) {
    stub = stub.subspan(kBndPrefix.size());
  }
  return is_cell(target_of(stub, kJumpThroughCell), cells);
}

}  // namespace

std::size_t calls_through(Code code, Code segment, Cells import_cells) {
  const auto segment_start = reinterpret_cast<std::uintptr_t>(segment.data());
  std::size_t calls = 0;
  for (Code rest = code; !rest.empty(); rest = rest.subspan(1)) {
    if (is_cell(target_of(rest, kCallThroughCell), import_cells)) {
      ++calls;
      continue;
    }
    const std::uintptr_t callee = target_of(rest, kCallDirect);
    if (callee >= segment_start && callee < segment_start + segment.size() &&
        stub_leads_to(segment.subspan(callee - segment_start), import_cells)) {
      ++calls;
    }
  }
  return calls;
}

}  // namespace memgraft::hotspot
