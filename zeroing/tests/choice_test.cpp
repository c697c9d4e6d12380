// What is offered and what is chosen, compared with what the operating system says of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kernels_of_this_build.h"
#include "memgraft/zeroing.h"

namespace memgraft::zeroing {
namespace {

// The first of `names` that this build has and this CPU can run, or null.
const memgraft_zero_kernel* first_available(const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    const memgraft_zero_kernel* kernel = find(name);
    if (kernel != nullptr && kernel->available) {
      return kernel;
    }
  }
  return nullptr;
}

struct Row {
  std::string_view name;
  memgraft_zero_stores stores;
  std::size_t width;
};

constexpr auto kOrdinary = MEMGRAFT_ZERO_ORDINARY;
constexpr auto kNonTemporal = MEMGRAFT_ZERO_NON_TEMPORAL;

// Every kernel of this build.
const std::vector<Row> kExpected = {
    {"word-1", kOrdinary, 1},
    {"word-4", kOrdinary, 4},
    {"word-8", kOrdinary, 8},
    {"memset", kOrdinary, 0},
#if defined(MEMGRAFT_ZEROING_X86_64)
    {"rep-stosb", kOrdinary, 0},
    {"avx2", kOrdinary, 32},
    {"avx512", kOrdinary, 64},
    {"non-temporal-16", kNonTemporal, 16},
    {"non-temporal-32", kNonTemporal, 32},
    {"non-temporal-64", kNonTemporal, 64},
    {"clzero", kNonTemporal, 64},
    {"movdir64b", kNonTemporal, 64},
#elif defined(MEMGRAFT_ZEROING_AARCH64)
    {"dc-zva-1", kOrdinary, 0}, {"dc-zva-2", kOrdinary, 0},
    {"dc-zva-4", kOrdinary, 0}, {"non-temporal-32", kNonTemporal, 32},
#elif defined(MEMGRAFT_ZEROING_PPC64)
    {"dcbz-1", kOrdinary, 0}, {"dcbz-2", kOrdinary, 0}, {"dcbz-4", kOrdinary, 0}, {"altivec", kOrdinary, 16},
#elif defined(MEMGRAFT_ZEROING_RISCV64)
    {"cbo-zero", kOrdinary, 0},
#endif
};

TEST(Kernels, AreCompleteAndDescribed) {
  std::set<std::string_view> names;
  for (const memgraft_zero_kernel& kernel : kernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name << " twice";
    EXPECT_FALSE(std::string_view(kernel.description).empty()) << kernel.name;
    EXPECT_NE(kernel.zero, nullptr) << kernel.name;
  }
  for (const Row& row : kExpected) {
    EXPECT_EQ(names.erase(row.name), 1U) << row.name << " is missing";
  }
  EXPECT_TRUE(names.empty()) << *names.begin() << " is not expected";
}

TEST(Kernels, SayWhichStoresAndHowWide) {
  for (const Row& row : kExpected) {
    ASSERT_NE(find(row.name), nullptr) << row.name;
    EXPECT_EQ(find(row.name)->stores, row.stores) << row.name;
    EXPECT_EQ(find(row.name)->width, row.width) << row.name;
  }
}

TEST(Kernels, AreTheSameAtEveryCall) {
  EXPECT_EQ(kernels().data(), kernels().data());
  EXPECT_EQ(kernels().size(), kernels().size());
}

TEST(Kernels, OfAnyCpuAreAvailable) {
  for (const std::string_view name : {"word-1", "word-4", "word-8", "memset"}) {
    ASSERT_NE(find(name), nullptr) << name;
    EXPECT_TRUE(find(name)->available) << name;
  }
}

#ifdef MEMGRAFT_ZEROING_X86_64
// The CPU features that the kernel offers to programs (proc(5), /proc/cpuinfo): another witness than the
// library's.
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
  EXPECT_EQ(find("movdir64b")->available, flags.contains("movdir64b"));
  EXPECT_EQ(find("clzero")->available, flags.contains("clzero"));  // its lines have 64 bytes wherever it is
}
#endif

TEST(Choice, OfOrdinaryStoresIsTheWidestThatPays) {
  const memgraft_zero_kernel* chosen = memgraft_zero_chosen(MEMGRAFT_ZERO_ORDINARY);
  ASSERT_NE(chosen, nullptr);
  std::vector<std::string_view> order = {"avx512", "avx2", "cbo-zero", "memset"};
#ifdef MEMGRAFT_ZEROING_X86_64
  const std::set<std::string> flags = cpu_flags();
  if (flags.empty()) {
    GTEST_SKIP() << "/proc/cpuinfo names no CPU flags here";
  }
  if (!flags.contains("avx_vnni")) {
    order.erase(order.begin());
  }
#endif
  EXPECT_EQ(chosen, first_available(order)) << "chose " << chosen->name;
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
