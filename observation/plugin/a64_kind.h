// What kind of instruction a word of AArch64 code is, as far as memory's order is concerned (Arm Architecture
// Reference Manual for A-profile, C4.1: loads and stores, barriers).
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum a64_kind {
  kOther,
  kLoad,
  kStore,
  kLoadAcquire,    // ldar, ldarb, ldarh
  kStoreRelease,   // stlr, stlrb, stlrh
  kAtomic,         // exclusives, compare and swap, and the single instructions that read and write
  kBarrier,        // dmb ish
  kBarrierLoads,   // dmb ishld
  kBarrierStores,  // dmb ishst
  kKinds,
};

static inline enum a64_kind a64_kind_of(uint32_t word) {
  switch (word) {
    case 0xd5033bbf:
      return kBarrier;
    case 0xd50339bf:
      return kBarrierLoads;
    case 0xd5033abf:
      return kBarrierStores;
    default:
      break;
  }
  // size 001000 1 L 0 11111 o0 11111: ordered, neither exclusive nor a pair; o0 = 1 but for LoadLOAcquire's.
  if ((word & 0x3ffffc00) == 0x08dffc00) {
    return kLoadAcquire;
  }
  if ((word & 0x3ffffc00) == 0x089ffc00) {
    return kStoreRelease;
  }
  if ((word & 0x3f000000) == 0x08000000 || (word & 0x3f200c00) == 0x38200000) {
    // Among the latter is ldapr (0x38bfc000), which only loads; HotSpot does not use it.
    return kAtomic;
  }
  if ((word & 0x0a000000) != 0x08000000) {
    return kOther;
  }
  const bool vector = (word & 0x04000000) != 0;
  if ((word & 0x3b000000) == 0x18000000) {  // of a literal, or its prefetch
    return word >> 30 == 3 && !vector ? kOther : kLoad;
  }
  const uint32_t opc = (word >> 22) & 3;
  const bool pair = (word & 0x3a000000) == 0x28000000;
  const bool structures = (word & 0x3a000000) == 0x08000000;  // of vectors
  if (pair || structures || vector) {
    return (opc & 1) != 0 ? kLoad : kStore;
  }
  if (word >> 30 == 3 && opc == 2) {  // prfm
    return kOther;
  }
  return opc != 0 ? kLoad : kStore;
}
