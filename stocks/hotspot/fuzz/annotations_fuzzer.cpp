// Any bytes are read as annotations without leaving them, and what is found is at a place where a type can
// be.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "ordering/annotations.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using memgraft::hotspot::has_annotation;
  const std::vector<std::uint8_t> bytes(data, data + size);
  std::vector<std::uint16_t> types;
  if (has_annotation(bytes, [&](std::uint16_t type) {
        types.push_back(type);
        return false;
      })) {
    std::abort();  // nothing was wanted
  }
  // As many types as are announced at most, each in two bytes of its own with two behind them.
  const std::size_t announced = size < 2 ? 0 : (std::size_t{bytes[0]} << 8U) + bytes[1];
  if (types.size() > announced || (!types.empty() && size < 4 * types.size())) {
    std::abort();
  }
  for (const std::uint16_t wanted : types) {
    if (!has_annotation(bytes, [&](std::uint16_t type) { return type == wanted; })) {
      std::abort();
    }
  }
  return 0;
}
