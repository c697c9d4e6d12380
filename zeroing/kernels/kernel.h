// What a folder of kernels tells choice.cpp. For translation units of the baseline CPU: those that are
// compiled for more (kernels/x86_64/avx*.cpp) must not include this file, nor any other that defines inline
// functions.
#pragma once

#include <array>
#include <cstddef>

#include "memgraft/zeroing.h"

namespace memgraft::zeroing {

// Which kernel is chosen among those available, for one kind of stores: the greatest.
// `only_for_comparison` is never chosen. The reasons are in choice.cpp.
enum class Preference : unsigned char {
  only_for_comparison,
  library,
  block,
  vector_16,
  vector_32,
  vector_64
};

struct Kernel {
  memgraft_zero_kernel shown;  // as the C header shows it; `available` is filled in by choice.cpp
  Preference preference;
  bool (*available)();  // does this CPU, under this operating system, have the instructions?
  bool (*pays)();       // and is it worth choosing there? Null: wherever it is available
};

// Sized here so that choice.cpp needs no memory of its own; defined in kernels/<folder>/kernels.cpp.
extern const std::array<Kernel, 4> kGenericKernels;

// Those of the instruction set that is built for; the definition comes from zeroing/CMakeLists.txt.
#ifdef MEMGRAFT_ZEROING_X86_64
inline constexpr std::size_t kIsaKernelCount = 8;
#elif defined(MEMGRAFT_ZEROING_AARCH64) || defined(MEMGRAFT_ZEROING_PPC64)
inline constexpr std::size_t kIsaKernelCount = 4;
#elif defined(MEMGRAFT_ZEROING_RISCV64)
inline constexpr std::size_t kIsaKernelCount = 1;
#else
inline constexpr std::size_t kIsaKernelCount = 0;
#endif

#ifdef MEMGRAFT_ZEROING_ISA
extern const std::array<Kernel, kIsaKernelCount> kIsaKernels;
#else
inline constexpr std::array<Kernel, kIsaKernelCount> kIsaKernels{};
#endif

}  // namespace memgraft::zeroing
