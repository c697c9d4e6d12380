// What is chosen without a table, of every family on any machine, and that this CPU's is what is used.
#include "../defaults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "../table.h"
#include "memgraft/zeroing.h"

namespace memgraft::zeroing {
namespace {

std::span<const memgraft_zero_kernel> kernels() {
  std::size_t count = 0;
  const memgraft_zero_kernel* first = memgraft_zero_kernels(&count);
  return {first, count};
}

constexpr std::array families = {Family::other, Family::cascade_lake_like, Family::sapphire_rapids_like,
                                 Family::zen_4_like};
constexpr std::size_t mib = std::size_t{1} << 20;

TEST(Defaults, NameKernelsOfThisBuild) {
  for (const Family family : families) {
    for (std::size_t mode = 0; mode < mode_names.size(); ++mode) {
      for (std::size_t bytes = 1; bytes != 0; bytes *= 2) {
        const std::string_view name = default_name(family, mode, bytes, 32 * mib);
        const bool known = std::ranges::any_of(
            kernels(), [&](const memgraft_zero_kernel& kernel) { return kernel.name == name; });
#ifdef MEMGRAFT_ZEROING_X86_64
        EXPECT_TRUE(known || name == widest_non_temporal) << name;
#else
        EXPECT_TRUE(known || name == widest_non_temporal || family != Family::other) << name;
#endif
      }
    }
  }
}

TEST(Defaults, StoreBlocksThatNoCacheHoldsPastTheCaches) {
  for (const Family family : families) {
    for (const std::size_t mode :
         {MEMGRAFT_ZERO_NOT_USED, MEMGRAFT_ZERO_USED_LATE, MEMGRAFT_ZERO_USED_SOON}) {
      const std::string_view name = default_name(family, mode, 64 * mib, 32 * mib);
      EXPECT_TRUE(name == widest_non_temporal || name == "clzero" || name == "non-temporal-64") << name;
    }
    EXPECT_EQ(default_name(family, MEMGRAFT_ZERO_RESIDENT, 64 * mib, 32 * mib), "memset");
  }
  EXPECT_EQ(default_name(Family::other, MEMGRAFT_ZERO_NOT_USED, 32 * mib, 32 * mib), "memset");
  EXPECT_EQ(default_name(Family::other, MEMGRAFT_ZERO_NOT_USED, 64 * mib, 0), "memset")
      << "of a size unknown";
}

TEST(Best, IsTheDefaultOfThisCpu) {
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{8192}, mib, 4096 * mib}) {
    const std::string_view name =
        default_name(family_of_cpu(), MEMGRAFT_ZERO_NOT_USED, bytes, last_level_cache_bytes());
    const memgraft_zero_kernel* chosen = memgraft_zero_best(MEMGRAFT_ZERO_NOT_USED, bytes, 1);
    if (name == widest_non_temporal && memgraft_zero_chosen(MEMGRAFT_ZERO_NON_TEMPORAL) != nullptr) {
      EXPECT_EQ(chosen, memgraft_zero_chosen(MEMGRAFT_ZERO_NON_TEMPORAL));
    } else if (std::string_view(chosen->name) != "memset") {
      EXPECT_EQ(chosen->name, name);
    }
  }
}

}  // namespace
}  // namespace memgraft::zeroing
