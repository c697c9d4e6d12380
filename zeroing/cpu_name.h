// What a table of the best kernels calls the CPU that it is for.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace memgraft::zeroing {

// Longer than any name seen; what is beyond is cut off.
inline constexpr std::size_t kLongestCpuName = 200;

// A closing NUL always follows the name.
using CpuName = std::array<char, kLongestCpuName + 1>;

// The name of the first CPU in `cpuinfo`, the beginning of a /proc/cpuinfo of any architecture: the fields
// that tell one model from another, one space between them. Empty where none is there.
// memgraft/machine/ makes the same name of the same file.
CpuName name_in(std::string_view cpuinfo);

}  // namespace memgraft::zeroing
