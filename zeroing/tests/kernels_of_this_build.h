// What this build offers, as a range.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "memgraft/zeroing.h"

namespace memgraft::zeroing {

inline std::span<const memgraft_zero_kernel> kernels() {
  std::size_t count = 0;
  const memgraft_zero_kernel* first = memgraft_zero_kernels(&count);
  return {first, count};
}

// Null where this build has no such kernel.
inline const memgraft_zero_kernel* find(std::string_view name) {
  const auto all = kernels();
  const auto found = std::ranges::find_if(all, [&](const auto& kernel) { return kernel.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace memgraft::zeroing
