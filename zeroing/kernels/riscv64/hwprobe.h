// What Linux says of cbo.zero: the instruction has no bit that a program could read, and where it is missing,
// or not enabled for programs, it ends them with SIGILL.
//
// Numbers and layout are those of Linux (arch/riscv/include/uapi/asm/hwprobe.h, include/uapi/asm/unistd.h;
// Documentation/arch/riscv/hwprobe.rst), repeated here because the headers of Debian 12 are older.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../generic/block.h"

namespace memgraft::zeroing {

struct HwprobePair {
  std::int64_t key;     // -1 after the call: this Linux does not know the key
  std::uint64_t value;  // 0 then
};

inline constexpr long kHwprobeCall = 258;                   // __NR_riscv_hwprobe, since Linux 6.4
inline constexpr std::int64_t kHwprobeExtensions = 4;       // RISCV_HWPROBE_KEY_IMA_EXT_0
inline constexpr std::uint64_t kHwprobeZicboz = 1U << 6U;   // RISCV_HWPROBE_EXT_ZICBOZ, since Linux 6.7
inline constexpr std::int64_t kHwprobeZicbozBlockSize = 6;  // RISCV_HWPROBE_KEY_ZICBOZ_BLOCK_SIZE, as well

// Bytes that one cbo.zero zeroes on every CPU online, from the answers for `kHwprobeExtensions` and
// `kHwprobeZicbozBlockSize`; 0 where it may not be used. The block size alone says nothing: an emulator
// may tell it also of a CPU without the instruction, and of CPUs that differ it is -1.
constexpr std::size_t cbo_zero_block(const HwprobePair& extensions, const HwprobePair& block_size) {
  const bool known = extensions.key == kHwprobeExtensions && block_size.key == kHwprobeZicbozBlockSize;
  const bool there = known && (extensions.value & kHwprobeZicboz) != 0;
  return there ? sane_block(block_size.value) : 0;
}

}  // namespace memgraft::zeroing
