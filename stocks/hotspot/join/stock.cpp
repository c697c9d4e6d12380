#include "join/stock.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "join/refusal.h"

namespace memgraft::hotspot {

namespace {

std::string describe(const Identity& identity, const std::filesystem::path& file) {
  return identity.name + " " + identity.version + " (" + identity.vendor + "), " + file.string();
}

}  // namespace

Stock::Library Stock::library_around(const void* inside) {
  Dl_info info{};
  void* extra = nullptr;
  if (dladdr1(inside, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) {
    throw Refusal("no graft can join this process",
                  {.looked_for = "the library that holds the JVM",
                   .found = "an address outside every loaded library",
                   .advice = "run the program on a HotSpot JVM that loads libjvm.so"},
                  kExitCannotTakeGraft);
  }
  const auto* const link_map_entry = static_cast<const link_map*>(extra);
  Library library{.file = link_map_entry->l_name, .base = link_map_entry->l_addr, .segments = {}};
  dl_iterate_phdr(
      [](dl_phdr_info* candidate, std::size_t, void* result) {
        auto& wanted = *static_cast<Library*>(result);
        if (candidate->dlpi_addr != wanted.base || wanted.file != candidate->dlpi_name) {
          return 0;
        }
        for (const ElfW(Phdr) & header : std::span(candidate->dlpi_phdr, candidate->dlpi_phnum)) {
          if (header.p_type == PT_LOAD) {
            // A loaded segment is plain memory of this process, p_memsz bytes long.
            const auto* const start = reinterpret_cast<const std::byte*>(wanted.base + header.p_vaddr);
            wanted.segments.push_back(
                {.bytes = {start, header.p_memsz}, .executable = (header.p_flags & PF_X) != 0});
          }
        }
        return 1;
      },
      &library);
  return library;
}

ElfImage Stock::read_image(const Library& library, std::span<const Needs* const> all_needs,
                           const std::string& description) {
  const NeededNames names = needed_names(all_needs);
  try {
    return {library.file, names.symbols, names.imports};
  } catch (const std::exception& error) {
    throw Refusal(
        "no graft can join " + description,
        {.looked_for = "the symbols of libjvm", .found = error.what(), .advice = "make that file readable"},
        kExitCannotTakeGraft);
  }
}

Stock::Stock(Identity identity, const void* inside, std::span<const Needs* const> all_needs)
    : identity_(std::move(identity)),
      library_(library_around(inside)),
      image_(read_image(library_, all_needs, describe(identity_, library_.file))) {
  if (!image_.has_symbol_table()) {
    throw Refusal(
        "no graft can join " + description(),
        {.looked_for = "libjvm's symbol table (.symtab)",
         .found = "a stripped libjvm.so",
         .advice = "use a JDK whose libjvm keeps its symbols: Debian's and Ubuntu's openjdk packages, "
                   "Temurin, Corretto, Liberica and Zulu do"},
        kExitCannotTakeGraft);
  }
  bool any_collector = false;
  for (const CollectorClasses& collector : kCollectors) {
    any_collector = any_collector || has_collector(collector.collector);
  }
  if (!any_collector) {
    throw Refusal(
        "no graft can join " + description(),
        {.looked_for = "the heap classes of HotSpot (SerialHeap, ParallelScavengeHeap, G1CollectedHeap, ...)",
         .found = "none of them",
         .advice = "use a HotSpot JVM; OpenJ9, GraalVM native images and others have no such joints"},
        kExitCannotTakeGraft);
  }
}

std::string Stock::description() const { return describe(identity_, library_.file); }

std::optional<LoadedSymbol> Stock::symbol(std::string_view name) const {
  const auto found = image_.symbols(name);
  if (found.size() != 1) {
    return std::nullopt;
  }
  return LoadedSymbol{.address = library_.base + found.front().address,
                      .size_bytes = found.front().size_bytes};
}

Stock::Code Stock::code(std::string_view name) const {
  const auto function = symbol(name);
  if (!function) {
    return {};
  }
  for (const Segment& segment : library_.segments) {
    const auto start = reinterpret_cast<std::uintptr_t>(segment.bytes.data());
    if (segment.executable && function->address >= start &&
        function->address + function->size_bytes <= start + segment.bytes.size()) {
      return {.function = segment.bytes.subspan(function->address - start, function->size_bytes),
              .segment = segment.bytes};
    }
  }
  return {};
}

bool Stock::contains(std::uintptr_t address) const {
  return std::ranges::any_of(library_.segments, [address](const Segment& segment) {
    const auto start = reinterpret_cast<std::uintptr_t>(segment.bytes.data());
    return address >= start && address < start + segment.bytes.size();
  });
}

std::vector<std::uintptr_t*> Stock::import_cells(std::string_view function) const {
  std::vector<std::uintptr_t*> cells;
  for (const std::uint64_t offset : image_.import_cells(function)) {
    // A GOT entry holds one function pointer (System V ABI, x86-64 supplement, section 5.2).
    cells.push_back(reinterpret_cast<std::uintptr_t*>(library_.base + offset));
  }
  return cells;
}

namespace {

// HotSpot's flags are global variables of the types that runtime/globals.hpp gives them.
template <typename Value>
std::optional<Value> value_of(const std::optional<LoadedSymbol>& flag) {
  if (!flag || flag->size_bytes != sizeof(Value)) {
    return std::nullopt;
  }
  return *reinterpret_cast<const Value*>(flag->address);  // of that size, as was just checked
}

}  // namespace

std::optional<bool> Stock::flag(std::string_view name) const { return value_of<bool>(symbol(name)); }

std::optional<std::size_t> Stock::size_flag(std::string_view name) const {
  return value_of<std::size_t>(symbol(name));
}

bool Stock::has_collector(Collector collector) const {
  const CollectorClasses& classes = classes_of(collector);
  return flag(classes.flag).has_value() && symbol(mangled_vtable(classes.heap_classes.front())).has_value();
}

std::optional<Collector> Stock::collector() const {
  std::optional<Collector> chosen;
  for (const CollectorClasses& classes : kCollectors) {
    if (flag(classes.flag).value_or(false)) {
      if (chosen) {
        return std::nullopt;
      }
      chosen = classes.collector;
    }
  }
  return chosen;
}

}  // namespace memgraft::hotspot
