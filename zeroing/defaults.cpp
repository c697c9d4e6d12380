// What is known of families of CPUs. Everything here is a default and no verdict: `memgraft zero calibrate`
// measures this CPU and writes a table that takes its place.
#include "defaults.h"

#include <unistd.h>

#include <array>
#include <span>

#include "memgraft/zeroing.h"
#include "table.h"

#ifdef MEMGRAFT_ZEROING_X86_64
#include <cpuid.h>
#endif

namespace memgraft::zeroing {
namespace {

// From so many bytes on.
struct From {
  std::size_t bytes;
  std::string_view kernel;
  memgraft_zero_stores stores;
};

constexpr std::string_view kMemsetName = "memset";

// By mode, in the order of kModeNames. Below the first row it is memset, which the C library fits to each
// CPU.
using Rows = std::array<std::span<const From>, kModeNames.size()>;

// GB/s of one thread. The two of Intel are a choice of widths that these measurements support:
//
//                                             memset   ordinary      non-temporal-64
//   Sapphire Rapids: AVX-VNNI, 48 KiB L1D, 2 MiB L2 (older than the records)
//     streaming, 1 KiB                          9.0    avx512  9.1         4.3
//     streaming, 4 KiB                          7.8    avx512  8.8        11.2
//     streaming, 32 KiB                         9.2    avx512  8.5        19.9
//     streaming-late, 4 KiB                     3.5    avx512  3.6         4.2
//     streaming-late, 32 KiB                    4.0    avx512  3.7         4.3
//     streaming-used, 32 KiB                    5.8    avx512  5.2         4.5
//   Cascade Lake: no AVX-VNNI, 32 KiB L1D, 1 MiB L2 (experiments/records/2026-11-20-cascade-lake-2cpu)
//     resident, 32 KiB                        171      avx2   83           6.9
//     streaming, 4 KiB                          5.3    avx2    7.9         5.6
//     streaming, 32 KiB                         6.8    avx2    8.5         6.7
//     streaming-used, 32 KiB                    3.5    avx2    4.6         3.1
constexpr std::array kPastCachesFromPage = {From{4096, "non-temporal-64", MEMGRAFT_ZERO_NON_TEMPORAL}};
constexpr std::array kAvx2FromPage = {From{4096, "avx2", MEMGRAFT_ZERO_ORDINARY}};
constexpr Rows kSapphireRapids = {{{}, kPastCachesFromPage, kPastCachesFromPage, {}}};
constexpr Rows kCascadeLake = {{{}, kAvx2FromPage, kAvx2FromPage, kAvx2FromPage}};

//   Zen 4: AVX-512 (experiments/records/2026-11-25-genoa-2cpu/zero-bench-before.json); clzero is there, too
//     streaming, 4 KiB                         28.9    avx512 29.9        23.5     clzero 23.7
//     streaming, 32 KiB                        29.4    avx512 29.7        62.3     clzero 59.7
//     streaming, 1 MiB                         29.3    avx512 29.9        80.0     clzero 76.0
//     streaming-late, 32 KiB                    9.0    avx512  8.9         9.9     clzero  9.8
//     streaming-late, 256 KiB                   9.3    avx512  9.4        11.1     clzero 11.1
//     streaming-late, 1 MiB                     9.1    avx512  9.2        10.9     clzero 10.7
//     streaming-used, 32 KiB                    6.9    avx512  7.0         7.3     clzero  7.2
//     streaming-used, 256 KiB                   7.0    avx512  7.1         8.0     clzero  8.0
//     streaming-used, 1 MiB                     7.0    avx512  7.0         8.1     clzero  8.0
// clzero is not seen to be faster than non-temporal-64 at 256 KiB: 1.00 times as fast here, 0.94 to 0.99 in
// the measurement after (zero-bench.json), 0.93 to 1.58 on a noisier day
// (experiments/records/2026-11-23-genoa-2cpu).
constexpr std::array kZen4Streaming = {From{32768, "non-temporal-64", MEMGRAFT_ZERO_NON_TEMPORAL}};
constexpr std::array kZen4Used = {
    From{std::size_t{256} << 10, "non-temporal-64", MEMGRAFT_ZERO_NON_TEMPORAL}};
constexpr Rows kZen4 = {{{}, kZen4Streaming, kZen4Used, kZen4Used}};

constexpr Rows kNothingKnown{};

const Rows& rows_of(Family family) {
  switch (family) {
    case Family::cascade_lake_like:
      return kCascadeLake;
    case Family::sapphire_rapids_like:
      return kSapphireRapids;
    case Family::zen_4_like:
      return kZen4;
    case Family::other:
      break;
  }
  return kNothingKnown;
}

}  // namespace

std::size_t last_level_cache_bytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long bytes = sysconf(level); bytes > 0) {
      return static_cast<std::size_t>(bytes);
    }
  }
#endif
  return 0;
}

std::string_view default_name(Family family, std::size_t mode, std::size_t bytes,
                              std::size_t last_level_cache) {
  From found{.bytes = 0, .kernel = kMemsetName, .stores = MEMGRAFT_ZERO_ORDINARY};
  for (const From& from : rows_of(family)[mode]) {
    found = bytes >= from.bytes ? from : found;
  }
  // A block that no cache holds is in memory by its end, whoever uses it: an ordinary store would have each
  // of its lines read first, and writes it all the same.
  const bool beyond_caches = last_level_cache != 0 && bytes > last_level_cache;
  return beyond_caches && mode != MEMGRAFT_ZERO_RESIDENT && found.stores == MEMGRAFT_ZERO_ORDINARY
             ? kWidestNonTemporal
             : found.kernel;
}

#ifdef MEMGRAFT_ZEROING_X86_64
Family family_of_cpu() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0) {
    return Family::other;
  }
  const bool amd = ebx == signature_AMD_ebx;
  const bool intel = ebx == signature_INTEL_ebx;
  // CPUID leaf 7, EBX bit 16: AVX-512F. Of AMD's CPUs Zen 4 was the first with it (AMD64 Architecture
  // Programmer's Manual, vol. 3, "CPUID"; Software Optimization Guide for the AMD Zen4
  // Microarchitecture, 2.1).
  const bool avx512 = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & (1U << 16U)) != 0;
  // Leaf 7, subleaf 1, EAX bit 4: AVX-VNNI, as in kernels/x86_64/kernels.cpp.
  const bool avx_vnni = __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & (1U << 4U)) != 0;
  if (amd) {
    return avx512 ? Family::zen_4_like : Family::other;
  }
  if (intel) {
    return avx512 && avx_vnni ? Family::sapphire_rapids_like : Family::cascade_lake_like;
  }
  return Family::other;
}
#else
Family family_of_cpu() { return Family::other; }
#endif

}  // namespace memgraft::zeroing
