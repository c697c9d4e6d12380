// The symbols and imports of an ELF file on disk, as far as joints need them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct Elf;  // libelf.h

namespace memgraft::hotspot {

// A symbol of .symtab. The address is relative to the load address of the file.
struct Symbol {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
};

// What libelf (elfutils) reads from one shared library. libelf, because it maps the file instead of copying
// its 20 MB, and because it is what perf and gdb's neighbours read ELF with.
class ElfImage {
 public:
  // Reads the addresses of `names` from the full symbol table and all imports of `imports`. Throws
  // std::runtime_error with the reason when the file is not a readable ELF file.
  ElfImage(const std::filesystem::path& file, std::span<const std::string> names,
           std::span<const std::string> imports);

  // False for a stripped file: only .dynsym is left of it.
  [[nodiscard]] bool has_symbol_table() const { return has_symbol_table_; }
  // Every symbol of that name: none, one, or several local ones.
  [[nodiscard]] std::span<const Symbol> symbols(std::string_view name) const;
  // Load-relative addresses of the cells (GOT entries) through which the import is reached.
  [[nodiscard]] std::span<const std::uint64_t> import_cells(std::string_view name) const;

 private:
  void read_symbols(::Elf* elf, std::span<const std::string> names);
  void read_imports(::Elf* elf, std::span<const std::string> imports);

  bool has_symbol_table_ = false;
  std::map<std::string, std::vector<Symbol>, std::less<>> symbols_;
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> import_cells_;
};

}  // namespace memgraft::hotspot
