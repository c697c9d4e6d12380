// Does this machine code call that import?
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace memgraft::hotspot {

// The number of call instructions in `code` that reach one of `import_cells`, directly or through a stub of
// the procedure linkage table. `segment` is the executable segment around `code`, both where they are loaded;
// nothing outside it is read. Always 0 on an instruction set that Memgraft has no decoder for.
std::size_t calls_through(std::span<const std::byte> code, std::span<const std::byte> segment,
                          std::span<std::uintptr_t* const> import_cells);

}  // namespace memgraft::hotspot
