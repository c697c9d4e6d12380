// What HotSpot's assemblers have emitted so far: asm/codeBuffer.hpp, asm/assembler.hpp, the same in JDK 17
// to 25.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace memgraft::hotspot {

struct CodeSection {
  const std::byte* start;
  const std::byte* mark;
  const std::byte* end;

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end - start); }
  [[nodiscard]] std::span<const std::byte> from(std::size_t begin) const { return {start + begin, end}; }
};

// MacroAssembler, a class with virtual methods that derives from one without.
struct MacroAssembler {
  std::uintptr_t vtable;
  const CodeSection* section;
};

}  // namespace memgraft::hotspot
