// What is chosen without a table: by family of CPUs, and by the size of the last-level cache.
#pragma once

#include <cstddef>
#include <string_view>

namespace memgraft::zeroing {

// Those that have been measured, and all others.
enum class Family : unsigned char { other, cascade_lake_like, sapphire_rapids_like, zen_4_like };

// Of this CPU.
Family family_of_cpu();

// Of this CPU; 0 where the C library does not know.
std::size_t last_level_cache_bytes();

// Stands for the widest non-temporal stores that a CPU has.
inline constexpr std::string_view kWidestNonTemporal = "widest non-temporal";

// The name of the kernel for blocks of so many bytes in a mode (kModeNames), or `kWidestNonTemporal`;
// "memset" where nothing was seen to beat it.
std::string_view default_name(Family family, std::size_t mode, std::size_t bytes,
                              std::size_t last_level_cache);

}  // namespace memgraft::zeroing
