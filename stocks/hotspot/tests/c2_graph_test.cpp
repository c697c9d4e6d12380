#include "ordering/c2_graph.h"

#include <gtest/gtest.h>

namespace memgraft::hotspot::c2 {
namespace {

// Shifts of DECORATOR_LAST in gc/shared/c2/barrierSetC2.hpp: C2_CONTROL_DEPENDENT_LOAD and C2_UNSAFE_ACCESS.
// Seen in JDK 21's accesses: loads of Unsafe have both, and C2_READ_ACCESS two above the latter.
TEST(C2Layout, DecoratorsOfC2AreOneHigherInJdk21) {
  for (const int feature : {17, 25}) {
    EXPECT_EQ(Layout::of(feature).control_dependent_load(), std::uint64_t{1} << 33U);
    EXPECT_EQ(Layout::of(feature).unsafe_access(), std::uint64_t{1} << 35U);
  }
  EXPECT_EQ(Layout::of(21).control_dependent_load(), std::uint64_t{1} << 34U);
  EXPECT_EQ(Layout::of(21).unsafe_access(), std::uint64_t{1} << 36U);
}

}  // namespace
}  // namespace memgraft::hotspot::c2
