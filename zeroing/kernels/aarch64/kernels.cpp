// The AArch64 kernels and whether this CPU has them.
#include "kernels.h"

#include "../kernel.h"
#include "dczid.h"

namespace memgraft::zeroing {
namespace {

bool always() { return true; }

bool has_dc_zva() { return dc_zva_block(read_dczid()) != 0; }

}  // namespace

// memset stays the choice for ordinary stores: glibc's uses DC ZVA itself from 256 bytes on, with blocks of
// its own for 64 and 128 bytes, and vector stores below (sysdeps/aarch64/memset.S). Linux clears pages with
// DC ZVA once a turn (arch/arm64/lib/clear_page.S).
constinit const std::array<Kernel, kIsaKernelCount> kIsaKernels = {{
    {.shown = {.name = "dc-zva-1",
               .description = "DC ZVA once per turn of a loop; needs DCZID_EL0.DZP = 0",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 0,
               .available = false,
               .zero = zero_dc_zva_1},
     .preference = Preference::only_for_comparison,
     .available = has_dc_zva,
     .pays = nullptr},
    {.shown = {.name = "dc-zva-2",
               .description = "DC ZVA twice per turn of a loop; needs DCZID_EL0.DZP = 0",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 0,
               .available = false,
               .zero = zero_dc_zva_2},
     .preference = Preference::only_for_comparison,
     .available = has_dc_zva,
     .pays = nullptr},
    {.shown = {.name = "dc-zva-4",
               .description = "DC ZVA four times per turn of a loop; needs DCZID_EL0.DZP = 0",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 0,
               .available = false,
               .zero = zero_dc_zva_4},
     .preference = Preference::only_for_comparison,
     .available = has_dc_zva,
     .pays = nullptr},
    {.shown = {.name = "non-temporal-32",
               .description = "pairs of 16-byte stores with a non-temporal hint (STNP)",
               .stores = MEMGRAFT_ZERO_NON_TEMPORAL,
               .width = 32,
               .available = false,
               .zero = zero_non_temporal_32},
     .preference = Preference::vector_32,
     .available = always,
     .pays = nullptr},
}};

}  // namespace memgraft::zeroing
