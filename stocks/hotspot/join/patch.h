// Replacing pointers and code in a loaded library: all of them, or none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace memgraft::hotspot {

// A transaction. What it replaced is put back when it is destroyed, unless it was kept.
class Patch {
 public:
  Patch() = default;
  ~Patch();
  Patch(const Patch&) = delete;
  Patch& operator=(const Patch&) = delete;
  Patch(Patch&& other) noexcept;
  Patch& operator=(Patch&&) = delete;

  // Stores `value` into `*cell`, which may lie in memory that is read-only after relocation (RELRO). The
  // page's protection is as before afterwards. Throws std::system_error when the kernel refuses.
  void replace(std::uintptr_t* cell, std::uintptr_t value);

  // The same for instructions, of which no other thread may be running any.
  void replace_code(std::uintptr_t address, std::span<const std::byte> code);

  // From here on the replacements stay until `undo`.
  void keep() { kept_ = true; }

  // Puts every replaced pointer back, last first.
  void undo() noexcept;

 private:
  struct Replacement {
    std::uintptr_t* cell;
    std::uintptr_t before;
  };

  struct CodeReplacement {
    std::uintptr_t address;
    std::vector<std::byte> before;
  };

  std::vector<Replacement> replacements_;
  std::vector<CodeReplacement> code_replacements_;
  bool kept_ = false;
};

}  // namespace memgraft::hotspot
