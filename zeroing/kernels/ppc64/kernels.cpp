// The kernels of 64-bit little-endian Power and whether this CPU has them.
#include "kernels.h"

#include <sys/auxv.h>

#include "../kernel.h"
#include "line.h"

namespace memgraft::zeroing {

constinit KnownBlock dcbz_line{};

namespace {

bool has_altivec() {
  return (getauxval(AT_HWCAP) & PPC_FEATURE_HAS_ALTIVEC) != 0;  // asm/cputable.h, which sys/auxv.h includes
}

bool has_dcbz() { return has_altivec() && dcbz_line.found(line_size(dcbz)); }

}  // namespace

// memset stays the choice: glibc's for POWER8 and later uses dcbz itself from 256 bytes on, four times a
// turn, and wide stores below (sysdeps/powerpc/powerpc64/power8/memset.S). No store here goes past the
// caches.
constinit const std::array<Kernel, kIsaKernelCount> kIsaKernels = {{
    {.shown = {.name = "dcbz-1",
               .description = "dcbz once per turn of a loop; needs AltiVec for the rest",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 0,
               .available = false,
               .zero = zero_dcbz_1},
     .preference = Preference::only_for_comparison,
     .available = has_dcbz,
     .pays = nullptr},
    {.shown = {.name = "dcbz-2",
               .description = "dcbz twice per turn of a loop; needs AltiVec for the rest",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 0,
               .available = false,
               .zero = zero_dcbz_2},
     .preference = Preference::only_for_comparison,
     .available = has_dcbz,
     .pays = nullptr},
    {.shown = {.name = "dcbz-4",
               .description = "dcbz four times per turn of a loop; needs AltiVec for the rest",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 0,
               .available = false,
               .zero = zero_dcbz_4},
     .preference = Preference::only_for_comparison,
     .available = has_dcbz,
     .pays = nullptr},
    {.shown = {.name = "altivec",
               .description = "16-byte stores; needs AltiVec",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 16,
               .available = false,
               .zero = zero_altivec},
     .preference = Preference::only_for_comparison,
     .available = has_altivec,
     .pays = nullptr},
}};

}  // namespace memgraft::zeroing
