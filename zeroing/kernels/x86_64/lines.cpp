// Whole lines past the caches without vector registers: CLZERO of AMD and MOVDIR64B of Intel. In assembly, so
// that this file is compiled for the baseline like kernels.cpp, which asks for the instructions.
#include <array>

#include "../generic/shape.h"
#include "kernels.h"

namespace memgraft::zeroing {
namespace {

struct ClearLine {
  static constexpr std::size_t unit = kLineBytes;  // kernels.cpp asks the CPU whether that is so
  static constexpr Edges edges = Edges::exact;

  // The line that rAX points into (AMD64 Architecture Programmer's Manual, vol. 3, "CLZERO").
  static void aligned(std::byte* at) { asm volatile("clzero" : : "a"(at) : "memory"); }
  // Weakly ordered like a streaming store (same page).
  static void finish() { asm volatile("sfence" : : : "memory"); }
};

alignas(kLineBytes) constinit const std::array<std::byte, kLineBytes> kZeroes{};

struct DirectStore {
  static constexpr std::size_t unit = kLineBytes;  // what the instruction moves, on every CPU
  static constexpr Edges edges = Edges::exact;

  static void aligned(std::byte* at) {
    asm volatile("movdir64b %[line], %[at]" : : [at] "r"(at), [line] "m"(kZeroes) : "memory");
  }
  // Weakly ordered, as of write-combining memory (Intel 64 and IA-32 Architectures Software Developer's
  // Manual, vol. 2B, "MOVDIR64B").
  static void finish() { asm volatile("sfence" : : : "memory"); }
};

}  // namespace

void zero_clzero(void* memory, std::size_t bytes) { zero_with<ClearLine>(memory, bytes); }

void zero_movdir64b(void* memory, std::size_t bytes) { zero_with<DirectStore>(memory, bytes); }

}  // namespace memgraft::zeroing
