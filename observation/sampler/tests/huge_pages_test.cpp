// What the sampler knows of huge pages. The kernel's counters are written here, as Linux would.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "round.h"
#include "sampler.h"

namespace memgraft::observation {
namespace {

constexpr std::uintptr_t kBlock = 0x40000000;

std::string g_counters;

// In pieces, as the kernel may.
ssize_t read_counters(int /*file*/, void* to, std::size_t most) {
  const std::size_t bytes = std::min({most, g_counters.size(), std::size_t{20}});
  std::memcpy(to, g_counters.data(), bytes);
  g_counters.erase(0, bytes);
  return static_cast<ssize_t>(bytes);
}

// Whether a block that was split is still taken for split when the counters say that.
bool is_split_after(const std::string& counters) {
  g_round.split.clear();
  g_round.split.insert(kBlock, 1);
  g_counters = counters;
  const auto read = std::exchange(g_state.read, read_counters);
  see_joined();
  g_state.read = read;
  return g_round.split.has(kBlock);
}

TEST(HugePages, AreSplitAgainWhenLinuxHasMadeSome) {
  g_round.joined = 7;
  EXPECT_TRUE(is_split_after("thp_fault_alloc 3\nthp_collapse_alloc 7\nthp_collapse_alloc_failed 9\n"));
  EXPECT_FALSE(is_split_after("thp_fault_alloc 3\nthp_collapse_alloc 8\nthp_collapse_alloc_failed 9\n"));
  EXPECT_TRUE(is_split_after("thp_fault_alloc 3\nthp_collapse_alloc 8\nthp_collapse_alloc_failed 9\n"));
}

TEST(HugePages, MayBeUnknownToTheKernel) {
  g_round.joined = 0;
  EXPECT_TRUE(is_split_after(""));
  EXPECT_TRUE(is_split_after("nr_free_pages 5\n"));
}

}  // namespace
}  // namespace memgraft::observation
