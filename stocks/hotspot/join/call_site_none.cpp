#include "join/call_site.h"

namespace memgraft::hotspot {

std::size_t calls_through(std::span<const std::byte> /*code*/, std::span<const std::byte> /*segment*/,
                          std::span<std::uintptr_t* const> /*import_cells*/) {
  return 0;
}

}  // namespace memgraft::hotspot
