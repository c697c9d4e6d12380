// The x86-64 kernels and whether this CPU has them.
#include "kernels.h"

#include <cpuid.h>

#include "../kernel.h"

namespace memgraft::zeroing {
namespace {

bool always() { return true; }

// __builtin_cpu_supports also asks whether the operating system saves the registers (XCR0).
// __builtin_cpu_init makes it right even before this program's constructors have run (GCC manual, "x86
// Built-in Functions").
bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2");
}

bool has_avx512f() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f");
}

// AVX-VNNI (CPUID leaf 7, subleaf 1, EAX bit 4; Intel SDM vol. 2A, CPUID) came with the first CPUs on which
// 64-byte stores cost neither clock frequency nor, as choice.cpp's table shows, bandwidth; glibc draws its
// line there too (sysdeps/x86/cpu-features.c, Prefer_No_AVX512_Probing).
bool has_fast_64_byte_stores() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & (1U << 4U)) != 0;
}

// CPUID leaf 8000_0008h, EBX bit 0 (AMD64 Architecture Programmer's Manual, vol. 3, "CPUID"). What it zeroes
// is a line of the first-level data cache, whose size leaf 8000_0005h tells in ECX bits 7:0.
bool has_clzero_of_64_bytes() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  const bool there = __get_cpuid(0x80000008, &eax, &ebx, &ecx, &edx) != 0 && (ebx & 1U) != 0;
  return there && __get_cpuid(0x80000005, &eax, &ebx, &ecx, &edx) != 0 && (ecx & 0xffU) == kLineBytes;
}

// CPUID leaf 7, subleaf 0, ECX bit 28 (Intel SDM vol. 2A, CPUID).
bool has_movdir64b() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ecx & (1U << 28U)) != 0;
}

}  // namespace

constinit const std::array<Kernel, kIsaKernelCount> kIsaKernels = {{
    {.shown = {.name = "rep-stosb",
               .description = "the rep stosb instruction; fast on CPUs with ERMS",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 0,
               .available = false,
               .zero = zero_rep_stosb},
     .preference = Preference::only_for_comparison,
     .available = always,
     .pays = nullptr},
    {.shown = {.name = "avx2",
               .description = "32-byte stores; needs AVX2",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 32,
               .available = false,
               .zero = zero_avx2},
     .preference = Preference::vector_32,
     .available = has_avx2,
     .pays = nullptr},
    {.shown = {.name = "avx512",
               .description = "64-byte stores; needs AVX-512F",
               .stores = MEMGRAFT_ZERO_ORDINARY,
               .width = 64,
               .available = false,
               .zero = zero_avx512},
     .preference = Preference::vector_64,
     .available = has_avx512f,
     .pays = has_fast_64_byte_stores},
    {.shown = {.name = "non-temporal-16",
               .description = "16-byte non-temporal stores",
               .stores = MEMGRAFT_ZERO_NON_TEMPORAL,
               .width = 16,
               .available = false,
               .zero = zero_non_temporal_16},
     .preference = Preference::vector_16,
     .available = always,
     .pays = nullptr},
    {.shown = {.name = "non-temporal-32",
               .description = "32-byte non-temporal stores; needs AVX2",
               .stores = MEMGRAFT_ZERO_NON_TEMPORAL,
               .width = 32,
               .available = false,
               .zero = zero_non_temporal_32},
     .preference = Preference::vector_32,
     .available = has_avx2,
     .pays = nullptr},
    {.shown = {.name = "non-temporal-64",
               .description = "64-byte non-temporal stores; needs AVX-512F",
               .stores = MEMGRAFT_ZERO_NON_TEMPORAL,
               .width = 64,
               .available = false,
               .zero = zero_non_temporal_64},
     .preference = Preference::vector_64,
     .available = has_avx512f,
     .pays = nullptr},
    // Neither is chosen: clzero is not seen to be faster than non-temporal-64 on Zen 4 (defaults.cpp), and
    // movdir64b stores what non-temporal-64 does at one instruction a line as well.
    {.shown = {.name = "clzero",
               .description = "the clzero instruction, a line at a time past the caches; needs CLZERO (AMD)",
               .stores = MEMGRAFT_ZERO_NON_TEMPORAL,
               .width = 64,
               .available = false,
               .zero = zero_clzero},
     .preference = Preference::only_for_comparison,
     .available = has_clzero_of_64_bytes,
     .pays = nullptr},
    {.shown = {.name = "movdir64b",
               .description = "64-byte direct stores; needs MOVDIR64B",
               .stores = MEMGRAFT_ZERO_NON_TEMPORAL,
               .width = 64,
               .available = false,
               .zero = zero_movdir64b},
     .preference = Preference::only_for_comparison,
     .available = has_movdir64b,
     .pays = nullptr},
}};

}  // namespace memgraft::zeroing
