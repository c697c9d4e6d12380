// What is chosen without a table, of every family on any machine, and that this CPU's is what is used.
#include "../defaults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "../table.h"
#include "kernels_of_this_build.h"
#include "memgraft/zeroing.h"

namespace memgraft::zeroing {
namespace {

constexpr std::array kFamilies = {Family::other, Family::cascade_lake_like, Family::sapphire_rapids_like,
                                  Family::zen_4_like};
constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(Defaults, NameKernelsOfThisBuild) {
  for (const Family family : kFamilies) {
    for (std::size_t mode = 0; mode < kModeNames.size(); ++mode) {
      for (std::size_t bytes = 1; bytes != 0; bytes *= 2) {
        const std::string_view name = default_name(family, mode, bytes, 32 * kMiB);
        const bool known = find(name) != nullptr;
#ifdef MEMGRAFT_ZEROING_X86_64
        EXPECT_TRUE(known || name == kWidestNonTemporal) << name;
#else
        EXPECT_TRUE(known || name == kWidestNonTemporal || family != Family::other) << name;
#endif
      }
    }
  }
}

TEST(Defaults, StoreBlocksThatNoCacheHoldsPastTheCaches) {
  for (const Family family : kFamilies) {
    for (const std::size_t mode :
         {MEMGRAFT_ZERO_NOT_USED, MEMGRAFT_ZERO_USED_LATE, MEMGRAFT_ZERO_USED_SOON}) {
      const std::string_view name = default_name(family, mode, 64 * kMiB, 32 * kMiB);
      EXPECT_TRUE(name == kWidestNonTemporal || name == "clzero" || name == "non-temporal-64") << name;
    }
    EXPECT_EQ(default_name(family, MEMGRAFT_ZERO_RESIDENT, 64 * kMiB, 32 * kMiB), "memset");
  }
  EXPECT_EQ(default_name(Family::other, MEMGRAFT_ZERO_NOT_USED, 32 * kMiB, 32 * kMiB), "memset");
  EXPECT_EQ(default_name(Family::other, MEMGRAFT_ZERO_NOT_USED, 64 * kMiB, 0), "memset")
      << "of a size unknown";
}

TEST(Defaults, FollowTheMeasurements) {
  struct Row {
    Family family;
    memgraft_zero_use mode;
    std::size_t bytes;
    std::string_view name;
  };
  for (const Row& row : std::array{
           Row{Family::cascade_lake_like, MEMGRAFT_ZERO_NOT_USED, 4095, "memset"},
           Row{Family::cascade_lake_like, MEMGRAFT_ZERO_NOT_USED, 4096, "avx2"},
           Row{Family::cascade_lake_like, MEMGRAFT_ZERO_USED_SOON, kMiB, "avx2"},
           Row{Family::sapphire_rapids_like, MEMGRAFT_ZERO_NOT_USED, 4096, "non-temporal-64"},
           Row{Family::sapphire_rapids_like, MEMGRAFT_ZERO_USED_LATE, 4096, "non-temporal-64"},
           Row{Family::sapphire_rapids_like, MEMGRAFT_ZERO_USED_SOON, kMiB, "memset"},
           Row{Family::zen_4_like, MEMGRAFT_ZERO_NOT_USED, 32767, "memset"},
           Row{Family::zen_4_like, MEMGRAFT_ZERO_NOT_USED, 32768, "non-temporal-64"},
           Row{Family::zen_4_like, MEMGRAFT_ZERO_USED_LATE, 262143, "memset"},
           Row{Family::zen_4_like, MEMGRAFT_ZERO_USED_LATE, 262144, "non-temporal-64"},
           Row{Family::zen_4_like, MEMGRAFT_ZERO_USED_LATE, kMiB, "non-temporal-64"},
           Row{Family::zen_4_like, MEMGRAFT_ZERO_USED_SOON, 262143, "memset"},
           Row{Family::zen_4_like, MEMGRAFT_ZERO_USED_SOON, 262144, "non-temporal-64"},
           Row{Family::other, MEMGRAFT_ZERO_NOT_USED, kMiB, "memset"},
       }) {
    EXPECT_EQ(default_name(row.family, row.mode, row.bytes, 32 * kMiB), row.name)
        << row.bytes << " bytes, " << kModeNames[row.mode];
  }
}

TEST(Best, IsTheDefaultOfThisCpu) {
  for (const memgraft_zero_use use :
       {MEMGRAFT_ZERO_RESIDENT, MEMGRAFT_ZERO_NOT_USED, MEMGRAFT_ZERO_USED_LATE, MEMGRAFT_ZERO_USED_SOON}) {
    for (std::size_t bytes = 1; bytes <= 4096 * kMiB; bytes *= 2) {
      const std::string_view name = default_name(family_of_cpu(), use, bytes, last_level_cache_bytes());
      const memgraft_zero_kernel* expected =
          name == kWidestNonTemporal ? memgraft_zero_chosen(MEMGRAFT_ZERO_NON_TEMPORAL) : find(name);
      // Where this CPU does not have it, memset.
      const bool there = expected != nullptr && expected->available;
      EXPECT_EQ(std::string_view(memgraft_zero_best(use, bytes, 1)->name), there ? expected->name : "memset")
          << bytes << " bytes, " << kModeNames[use];
    }
  }
}

}  // namespace
}  // namespace memgraft::zeroing
