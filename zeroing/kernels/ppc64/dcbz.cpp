// dcbz, which establishes a zeroed line in the cache without reading it from memory, and AltiVec.
#include <altivec.h>

#include "../generic/shape.h"
#include "kernels.h"

namespace memgraft::zeroing {
namespace {

using Vector = __vector unsigned int;

struct Vector16 {
  static constexpr std::size_t unit = 64;
  static constexpr Edges edges = Edges::exact;  // stvx, the store of AltiVec, cannot be unaligned

  // A zero that the compiler does not know to be zero: it would make the loop a call of memset.
  Vector16() : zero_(vec_splat_u32(0)) { asm("" : "+v"(zero_)); }

  void aligned(std::byte* at) const {
    auto* vector = reinterpret_cast<Vector*>(at);
    vec_st(zero_, 0, vector);
    vec_st(zero_, 16, vector);
    vec_st(zero_, 32, vector);
    vec_st(zero_, 48, vector);
  }
  static void finish() {}  // ordinary stores

 private:
  Vector zero_;
};

template <std::size_t count>
struct Dcbz {
  using Smaller = Vector16;

  static constexpr Edges edges = Edges::smaller_store;
  static constexpr std::size_t units_a_turn = count;

  static void aligned(std::byte* at) { dcbz(at); }
  // Nothing: dcbz is treated as a store to each byte of its block, ordered like any other by lwsync or sync
  // (Power ISA 3.0, Book II, "Data Cache Block set to Zero").
  static void finish() {}

  std::size_t unit = dcbz_line.unit();
};

}  // namespace

void zero_dcbz_1(void* memory, std::size_t bytes) { zero_with<Dcbz<1>>(memory, bytes); }

void zero_dcbz_2(void* memory, std::size_t bytes) { zero_with<Dcbz<2>>(memory, bytes); }

void zero_dcbz_4(void* memory, std::size_t bytes) { zero_with<Dcbz<4>>(memory, bytes); }

void zero_altivec(void* memory, std::size_t bytes) { zero_with<Vector16>(memory, bytes); }

}  // namespace memgraft::zeroing
