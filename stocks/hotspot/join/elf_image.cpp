#include "join/elf_image.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <unordered_map>

namespace memgraft::hotspot {

namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(const std::filesystem::path& file)
      : fd_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) {
      throw std::system_error(errno, std::generic_category(), "cannot open " + file.string());
    }
  }
  ~FileDescriptor() { ::close(fd_); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  FileDescriptor(FileDescriptor&&) = delete;
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};

// One section's header and data, with the number of entries in it.
struct Table {
  GElf_Shdr header{};
  Elf_Data* data = nullptr;
  int entries = 0;
};

std::vector<Table> tables_of_type(Elf* elf, GElf_Word type) {
  std::vector<Table> tables;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    Table table;
    if (gelf_getshdr(section, &table.header) == nullptr || table.header.sh_type != type ||
        table.header.sh_entsize == 0) {
      continue;
    }
    table.data = elf_getdata(section, nullptr);
    if (table.data != nullptr) {
      table.entries = static_cast<int>(table.header.sh_size / table.header.sh_entsize);
      tables.push_back(table);
    }
  }
  return tables;
}

// The relocation types through which a library reaches an imported function on this instruction set.
bool is_import_relocation(GElf_Half machine, GElf_Word type) {
  switch (machine) {
    case EM_X86_64:
      return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
    case EM_AARCH64:
      return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
    default:
      return false;
  }
}

}  // namespace

ElfImage::ElfImage(const std::filesystem::path& file, std::span<const std::string> names,
                   std::span<const std::string> imports) {
  const FileDescriptor descriptor(file);
  if (elf_version(EV_CURRENT) == EV_NONE) {
    throw std::runtime_error("libelf is older than its header");
  }
  const std::unique_ptr<Elf, ElfEnd> elf(elf_begin(descriptor.get(), ELF_C_READ_MMAP, nullptr));
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) {
    throw std::runtime_error("not an ELF file: " + file.string());
  }
  read_symbols(elf.get(), names);
  read_imports(elf.get(), imports);
}

void ElfImage::read_symbols(Elf* elf, std::span<const std::string> names) {
  // One pass over some 60 000 symbols with a look-up each, instead of a pass for each name.
  std::unordered_map<std::string_view, std::vector<Symbol>*> wanted;
  for (const std::string& name : names) {
    wanted.emplace(name, &symbols_[name]);
  }
  for (const Table& table : tables_of_type(elf, SHT_SYMTAB)) {
    has_symbol_table_ = true;
    for (int i = 0; i < table.entries; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(table.data, i, &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF) {
        continue;
      }
      const char* name = elf_strptr(elf, table.header.sh_link, symbol.st_name);
      if (name == nullptr) {
        continue;
      }
      if (const auto entry = wanted.find(name); entry != wanted.end()) {
        entry->second->push_back({.address = symbol.st_value, .size_bytes = symbol.st_size});
      }
    }
  }
}

void ElfImage::read_imports(Elf* elf, std::span<const std::string> imports) {
  for (const std::string& name : imports) {
    import_cells_[name];
  }
  GElf_Ehdr header;
  if (gelf_getehdr(elf, &header) == nullptr) {
    return;
  }
  for (const Table& table : tables_of_type(elf, SHT_RELA)) {
    Elf_Scn* const symbols = elf_getscn(elf, table.header.sh_link);
    GElf_Shdr symbols_header;
    if (table.header.sh_link == 0 || gelf_getshdr(symbols, &symbols_header) == nullptr) {
      continue;
    }
    Elf_Data* const symbols_data = elf_getdata(symbols, nullptr);
    for (int i = 0; i < table.entries; ++i) {
      GElf_Rela relocation;
      GElf_Sym symbol;
      if (gelf_getrela(table.data, i, &relocation) == nullptr ||
          !is_import_relocation(header.e_machine, static_cast<GElf_Word>(GELF_R_TYPE(relocation.r_info))) ||
          gelf_getsym(symbols_data, static_cast<int>(GELF_R_SYM(relocation.r_info)), &symbol) == nullptr) {
        continue;
      }
      const char* name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
      if (name == nullptr) {
        continue;
      }
      if (const auto entry = import_cells_.find(std::string_view(name)); entry != import_cells_.end()) {
        entry->second.push_back(relocation.r_offset);
      }
    }
  }
}

std::span<const Symbol> ElfImage::symbols(std::string_view name) const {
  const auto entry = symbols_.find(name);
  return entry == symbols_.end() ? std::span<const Symbol>{} : std::span<const Symbol>(entry->second);
}

std::span<const std::uint64_t> ElfImage::import_cells(std::string_view name) const {
  const auto entry = import_cells_.find(name);
  return entry == import_cells_.end() ? std::span<const std::uint64_t>{}
                                      : std::span<const std::uint64_t>(entry->second);
}

}  // namespace memgraft::hotspot
