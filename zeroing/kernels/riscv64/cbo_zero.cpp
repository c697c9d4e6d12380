// cbo.zero (extension Zicboz): one instruction zeroes a block, without reading it from memory first.
#include <unistd.h>

#include <array>
#include <cstdint>

#include "../generic/block.h"
#include "../generic/shape.h"
#include "../generic/word_store.h"
#include "hwprobe.h"
#include "kernels.h"

namespace memgraft::zeroing {
namespace {

constinit KnownBlock block{};

struct Word8 : WordStore<std::uint64_t> {};

struct CboZero {
  using Smaller = Word8;

  static constexpr Edges edges = Edges::smaller_store;

  // As .insn: an assembler takes the name only when told that every CPU has Zicboz. MISC-MEM, function 2,
  // immediate 4 (RISC-V Base Cache Management Operation ISA Extensions 1.0, "cbo.zero").
  static void aligned(std::byte* at) { asm volatile(".insn i 0x0f, 2, x0, %0, 4" : : "r"(at) : "memory"); }
  // Nothing: cbo.zero is a set of stores to each byte of its block, which a fence orders as it orders stores
  // (same document, "Memory Ordering").
  static void finish() {}

  std::size_t unit = block.unit();
};

}  // namespace

bool find_cbo_zero_block() {
  std::array pairs = {HwprobePair{.key = kHwprobeExtensions, .value = 0},
                      HwprobePair{.key = kHwprobeZicbozBlockSize, .value = 0}};
  // No set of CPUs: all that are online. A Linux that does not know the call answers ENOSYS.
  const bool answered = syscall(kHwprobeCall, pairs.data(), pairs.size(), std::size_t{0}, nullptr, 0U) == 0;
  return block.found(answered ? cbo_zero_block(pairs[0], pairs[1]) : 0);
}

void zero_cbo_zero(void* memory, std::size_t bytes) { zero_with<CboZero>(memory, bytes); }

}  // namespace memgraft::zeroing
