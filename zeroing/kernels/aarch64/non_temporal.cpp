// STNP: a pair of stores with the hint that they will not be used soon. What a CPU makes of the hint is its
// own affair.
#include <arm_neon.h>

#include "../generic/shape.h"
#include "kernels.h"

namespace memgraft::zeroing {
namespace {

struct NonTemporal32 {
  static constexpr std::size_t unit = 64;
  static constexpr Edges edges = Edges::exact;

  void aligned(std::byte* at) const {
    asm volatile("stnp %q[zero], %q[zero], [%[at]]\n\tstnp %q[zero], %q[zero], [%[at], #32]"
                 :
                 : [at] "r"(at), [zero] "w"(zero_)
                 : "memory");
  }
  // Nothing: of the non-temporal pairs only the loads are ordered less than ordinary ones (Arm Architecture
  // Reference Manual, DDI 0487, "Load/store Non-temporal pair").
  static void finish() {}

 private:
  uint8x16_t zero_ = vdupq_n_u8(0);
};

}  // namespace

void zero_non_temporal_32(void* memory, std::size_t bytes) { zero_with<NonTemporal32>(memory, bytes); }

}  // namespace memgraft::zeroing
