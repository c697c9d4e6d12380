#include "ibs_sample.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>

#include "fake_rings.h"

namespace memgraft::observation {
namespace {

using linux_os::Written;

// As arch/x86/events/amd/ibs.c hands it over, built from the manual's fields.
Written registers(std::uint64_t data3, std::uint64_t address) {
  Written raw;
  raw.add<std::uint32_t>(0x3ff)                   // capabilities (CPUID 8000_001B)
      .add<std::uint64_t>(0x0000'0000'000a'1000)  // IbsOpCtl: enabled, valid
      .add<std::uint64_t>(0x401000)               // IbsOpRip
      .add<std::uint64_t>(0x0000'0001'0012'0005)  // IbsOpData: cycles from tag and completion to retirement
      .add<std::uint64_t>(0x3)                    // IbsOpData2: data source
      .add<std::uint64_t>(data3)                  // IbsOpData3
      .add<std::uint64_t>(address)                // IbsDcLinAd
      .add<std::uint64_t>(0x12345678);            // IbsDcPhysAd
  return raw;
}

constexpr std::uint64_t kLoadThatMissed = (std::uint64_t{312} << 32U)  // IbsDcMissLat
                                          | (1U << 18U)                // IbsDcPhyAddrValid
                                          | (1U << 17U)                // IbsDcLinAddrValid
                                          | (1U << 7U)                 // IbsDcMiss
                                          | (1U << 0U);                // IbsLdOp
constexpr std::uint64_t kStoreThatHit = (std::uint64_t{7} << 32U) | (1U << 17U) | (1U << 1U);  // IbsStOp

TEST(IbsAccess, ALoadThatMissed) {
  const auto access = ibs_access(registers(kLoadThatMissed, 0x7f0000001008).bytes);
  ASSERT_TRUE(access);
  EXPECT_EQ(access->address, 0x7f0000001008U);
  EXPECT_FALSE(access->store);
  EXPECT_EQ(access->latency_cycles, 312U);
}

TEST(IbsAccess, AStoreHasNoLatency) {
  const auto access = ibs_access(registers(kStoreThatHit, 0x1000).bytes);
  ASSERT_TRUE(access);
  EXPECT_TRUE(access->store);
  EXPECT_FALSE(access->latency_cycles) << "what stands there is of another operation";
}

TEST(IbsAccess, OtherOperationsAreNone) {
  EXPECT_FALSE(ibs_access(registers(1U << 17U, 0x1000).bytes)) << "neither load nor store";
  EXPECT_FALSE(ibs_access(registers(kLoadThatMissed & ~(std::uint64_t{1} << 17U), 0x1000).bytes))
      << "no address";
  EXPECT_FALSE(ibs_access(registers(kLoadThatMissed, 0xffff888000001000).bytes)) << "the kernel's";
}

TEST(IbsAccess, OneThatIsCutOffIsNone) {
  const Written whole = registers(kLoadThatMissed, 0x1000);
  for (std::size_t size = 0; size < 4 + 6 * 8; ++size) {
    EXPECT_FALSE(ibs_access(std::span(whole.bytes).first(size))) << size;
  }
  EXPECT_TRUE(ibs_access(std::span(whole.bytes).first(4 + 6 * 8))) << "what follows is not needed";
}

}  // namespace
}  // namespace memgraft::observation
