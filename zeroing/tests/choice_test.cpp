// What is offered and what is chosen, compared with what the operating system says of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "memgraft/zeroing.h"

namespace memgraft::zeroing {
namespace {

std::span<const memgraft_zero_kernel> kernels() {
  std::size_t count = 0;
  const memgraft_zero_kernel* first = memgraft_zero_kernels(&count);
  return {first, count};
}

const memgraft_zero_kernel* find(std::string_view name) {
  const auto all = kernels();
  const auto found = std::ranges::find_if(all, [&](const auto& kernel) { return kernel.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// The first of `names` that this build has and this CPU can run, or null.
const memgraft_zero_kernel* first_available(const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    const memgraft_zero_kernel* kernel = find(name);
    if (kernel != nullptr && kernel->available) {
      return kernel;
    }
  }
  return nullptr;
}

TEST(Kernels, AreCompleteAndDescribed) {
  std::set<std::string> names;
  for (const memgraft_zero_kernel& kernel : kernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name << " twice";
    EXPECT_FALSE(std::string_view(kernel.description).empty()) << kernel.name;
    EXPECT_NE(kernel.zero, nullptr) << kernel.name;
  }
#ifdef MEMGRAFT_ZEROING_X86_64
  const std::set<std::string> expected = {"word-4", "memset",          "rep-stosb",       "avx2",
                                          "avx512", "non-temporal-16", "non-temporal-32", "non-temporal-64"};
#else
  const std::set<std::string> expected = {"word-4", "memset"};
#endif
  EXPECT_EQ(names, expected);
}

TEST(Kernels, SayWhichStoresAndHowWide) {
  for (const memgraft_zero_kernel& kernel : kernels()) {
    const std::string_view name = kernel.name;
    EXPECT_EQ(kernel.stores == MEMGRAFT_ZERO_NON_TEMPORAL, name.starts_with("non-temporal-")) << name;
    const std::size_t dash = name.find_last_of('-');
    const bool named_width = name == "word-4" || name.starts_with("non-temporal-");
    if (named_width) {
      EXPECT_EQ(std::to_string(kernel.width), name.substr(dash + 1)) << name;
    }
    if (name == "memset" || name == "rep-stosb") {
      EXPECT_EQ(kernel.width, 0U) << name;
    }
    if (name == "avx2") {
      EXPECT_EQ(kernel.width, 32U);
    }
    if (name == "avx512") {
      EXPECT_EQ(kernel.width, 64U);
    }
  }
}

TEST(Kernels, AreTheSameAtEveryCall) {
  EXPECT_EQ(kernels().data(), kernels().data());
  EXPECT_EQ(kernels().size(), kernels().size());
}

TEST(Kernels, OfAnyCpuAreAvailable) {
  for (const std::string_view name : {"word-4", "memset"}) {
    ASSERT_NE(find(name), nullptr) << name;
    EXPECT_TRUE(find(name)->available) << name;
  }
}

#ifdef MEMGRAFT_ZEROING_X86_64
/// The CPU features that the kernel offers to programs (proc(5), /proc/cpuinfo): another witness than the
/// library's.
std::set<std::string> cpu_flags() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line)) {
    if (!line.starts_with("flags")) {
      continue;
    }
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

TEST(Kernels, OfX86AreAvailableWhereTheCpuHasTheInstructions) {
  const std::set<std::string> flags = cpu_flags();
  if (flags.empty()) {
    GTEST_SKIP() << "/proc/cpuinfo names no CPU flags here";
  }
  EXPECT_TRUE(find("rep-stosb")->available);
  EXPECT_TRUE(find("non-temporal-16")->available);
  EXPECT_EQ(find("avx2")->available, flags.contains("avx2"));
  EXPECT_EQ(find("non-temporal-32")->available, flags.contains("avx2"));
  EXPECT_EQ(find("avx512")->available, flags.contains("avx512f"));
  EXPECT_EQ(find("non-temporal-64")->available, flags.contains("avx512f"));
}
#endif

TEST(Choice, OfOrdinaryStoresIsTheWidestThatPays) {
  const memgraft_zero_kernel* ordinary = memgraft_zero_chosen(MEMGRAFT_ZERO_ORDINARY);
  ASSERT_NE(ordinary, nullptr);
  std::vector<std::string_view> order = {"avx512", "avx2", "memset"};
#ifdef MEMGRAFT_ZEROING_X86_64
  const std::set<std::string> flags = cpu_flags();
  if (flags.empty()) {
    GTEST_SKIP() << "/proc/cpuinfo names no CPU flags here";
  }
  if (!flags.contains("avx_vnni")) {
    order.erase(order.begin());
  }
#endif
  EXPECT_EQ(ordinary, first_available(order)) << "chose " << ordinary->name;
}

TEST(Choice, OfNonTemporalStoresIsTheWidestAvailable) {
  EXPECT_EQ(memgraft_zero_chosen(MEMGRAFT_ZERO_NON_TEMPORAL),
            first_available({"non-temporal-64", "non-temporal-32", "non-temporal-16"}));
}

TEST(Choice, IsAvailableAndOfTheKindAskedFor) {
  for (const auto stores : {MEMGRAFT_ZERO_ORDINARY, MEMGRAFT_ZERO_NON_TEMPORAL}) {
    const memgraft_zero_kernel* chosen = memgraft_zero_chosen(stores);
    if (chosen == nullptr) {
      continue;  // no non-temporal kernel in this build
    }
    EXPECT_TRUE(chosen->available);
    EXPECT_EQ(chosen->stores, stores);
    EXPECT_EQ(chosen, memgraft_zero_chosen(stores)) << "chosen again";
    EXPECT_EQ(chosen, find(chosen->name)) << "not one of memgraft_zero_kernels";
  }
}

TEST(Choice, PublicCallsWorkAsTheVeryFirstUse) {
  std::vector<char> block(1000, 'x');
  memgraft_zero_non_temporal(block.data() + 1, 500);
  memgraft_zero(block.data() + 501, 498);
  EXPECT_EQ(block.front(), 'x');
  EXPECT_EQ(block.back(), 'x');
  EXPECT_EQ(std::ranges::count(block, '\0'), 998);
}

}  // namespace
}  // namespace memgraft::zeroing
