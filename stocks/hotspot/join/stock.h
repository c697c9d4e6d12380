// The HotSpot that this process runs, before anything has been changed in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "join/elf_image.h"
#include "join/needs.h"

namespace memgraft::hotspot {

// What the JVM says of itself (system properties java.vm.*).
struct Identity {
  std::string version;  // java.vm.version, e.g. 17.0.15+6-Debian-1deb12u1
  int feature = 0;      // 17; 0 when it could not be read
  std::string vendor;
  std::string name;  // e.g. OpenJDK 64-Bit Server VM
};

// A symbol at the place where it is loaded.
struct LoadedSymbol {
  std::uintptr_t address = 0;
  std::uint64_t size_bytes = 0;
};

class Stock {
 public:
  // `inside` is any address within the libjvm to be looked at. Throws Refusal when the library that holds it
  // cannot be read, is stripped, or is no HotSpot.
  Stock(Identity identity, const void* inside, std::span<const Needs* const> all_needs);

  [[nodiscard]] const Identity& identity() const { return identity_; }
  [[nodiscard]] const std::filesystem::path& libjvm() const { return library_.file; }
  // "OpenJDK 64-Bit Server VM 17.0.15+6 (Debian), /usr/lib/jvm/.../libjvm.so"
  [[nodiscard]] std::string description() const;

  // The one symbol of that name; nothing when there is none or more than one.
  [[nodiscard]] std::optional<LoadedSymbol> symbol(std::string_view name) const;
  // A function's code where it is loaded, with the executable segment around it.
  struct Code {
    std::span<const std::byte> function;
    std::span<const std::byte> segment;
  };
  // Empty when there is not exactly one such symbol or it lies in no executable segment.
  [[nodiscard]] Code code(std::string_view name) const;
  // Whether an address lies in this library.
  [[nodiscard]] bool contains(std::uintptr_t address) const;
  // The cells through which libjvm calls an imported function.
  [[nodiscard]] std::vector<std::uintptr_t*> import_cells(std::string_view function) const;
  // The value of a boolean -XX flag, as it is now; nothing when this libjvm has no such flag.
  [[nodiscard]] std::optional<bool> flag(std::string_view name) const;
  // That of a flag which is a size in bytes.
  [[nodiscard]] std::optional<std::size_t> size_flag(std::string_view name) const;

  [[nodiscard]] bool has_collector(Collector collector) const;
  // The collector this JVM is about to start with. Agents are loaded after HotSpot has chosen it.
  [[nodiscard]] std::optional<Collector> collector() const;

 private:
  struct Segment {
    std::span<const std::byte> bytes;
    bool executable = false;
  };
  struct Library {
    std::filesystem::path file;
    std::uintptr_t base = 0;
    std::vector<Segment> segments;
  };
  static Library library_around(const void* inside);
  static ElfImage read_image(const Library& library, std::span<const Needs* const> all_needs,
                             const std::string& description);

  Identity identity_;
  Library library_;
  ElfImage image_;
};

}  // namespace memgraft::hotspot
