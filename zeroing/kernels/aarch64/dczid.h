#pragma once

#include <cstddef>
#include <cstdint>

#include "../generic/block.h"

namespace memgraft::zeroing {

// Bytes that one DC ZVA zeroes, from the value of DCZID_EL0: bits 3:0 are the logarithm of the size in
// 4-byte words. 0 where bit 4, DZP, prohibits the instruction (Arm Architecture Reference Manual, DDI 0487,
// "DCZID_EL0, Data Cache Zero ID register").
constexpr std::size_t dc_zva_block(std::uint64_t dczid) {
  const bool prohibited = (dczid & (1U << 4U)) != 0;
  return prohibited ? 0 : sane_block(std::size_t{4} << (dczid & 0xfU));
}

#ifdef __aarch64__  // the arithmetic above is tested everywhere
// Any program may read it; the value is the same on every CPU of a system (Linux: arch/arm64/kernel/
// cpufeature.c, ftr_dczid).
inline std::uint64_t read_dczid() {
  std::uint64_t value = 0;
  asm("mrs %0, dczid_el0" : "=r"(value));
  return value;
}
#endif

}  // namespace memgraft::zeroing
