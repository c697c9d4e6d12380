// The kernels of 64-bit RISC-V and whether this CPU has them.
#include "kernels.h"

#include "../kernel.h"

namespace memgraft::zeroing {

// cbo.zero is the choice where Linux lets programs use it: Linux itself clears pages with it there
// (arch/riscv/lib/clear_page.S), and memset of glibc up to 2.41 stores 8 bytes at a time here
// (string/memset.c). Nobody has measured that for Memgraft yet. No store here goes past the caches.
constinit const std::array<Kernel, kIsaKernelCount> kIsaKernels = {{
    {.shown = {.name = "cbo-zero",
               .description = "cbo.zero once per turn of a loop; needs Zicboz and Linux 6.7",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 0,
               .available = false,
               .zero = zero_cbo_zero},
     .preference = Preference::block,
     .available = find_cbo_zero_block,
     .pays = nullptr},
}};

}  // namespace memgraft::zeroing
