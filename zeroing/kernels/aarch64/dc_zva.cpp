// DC ZVA: one instruction zeroes a block, without reading it from memory first.
#include <arm_neon.h>

#include "../generic/shape.h"
#include "dczid.h"
#include "kernels.h"

namespace memgraft::zeroing {
namespace {

// For what is less than a block.
struct Vector64 {
  static constexpr std::size_t unit = 64;
  static constexpr Edges edges = Edges::overlapping;

  // A zero that the compiler does not know to be zero: it would make the loop a call of memset.
  Vector64() : zero_(vdupq_n_u8(0)) { asm("" : "+w"(zero_)); }

  void aligned(std::byte* at) const { unaligned(at); }
  void unaligned(std::byte* at) const {
    auto* bytes = reinterpret_cast<std::uint8_t*>(at);
    vst1q_u8(bytes, zero_);
    vst1q_u8(bytes + 16, zero_);
    vst1q_u8(bytes + 32, zero_);
    vst1q_u8(bytes + 48, zero_);
  }
  static void finish() {}  // ordinary stores

 private:
  uint8x16_t zero_;
};

template <std::size_t count>
struct DcZva {
  using Smaller = Vector64;

  static constexpr Edges edges = Edges::smaller_store;
  static constexpr std::size_t units_a_turn = count;

  static void aligned(std::byte* at) { asm volatile("dc zva, %0" : : "r"(at) : "memory"); }
  // Nothing: DC ZVA is to the memory model a set of stores to each byte of its block, ordered like any others
  // by a release store or a barrier (Arm Architecture Reference Manual, DDI 0487, "DC ZVA").
  static void finish() {}

  std::size_t unit = dc_zva_block(read_dczid());
};

}  // namespace

void zero_dc_zva_1(void* memory, std::size_t bytes) { zero_with<DcZva<1>>(memory, bytes); }

void zero_dc_zva_2(void* memory, std::size_t bytes) { zero_with<DcZva<2>>(memory, bytes); }

void zero_dc_zva_4(void* memory, std::size_t bytes) { zero_with<DcZva<4>>(memory, bytes); }

}  // namespace memgraft::zeroing
