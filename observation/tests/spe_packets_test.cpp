#include "spe_packets.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace memgraft::observation {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Kind = SpePacket::Kind;

// A load by Linux's kernel on an Ampere Altra, as `perf report -D` shows its bytes
// (github.com/AmpereComputing/ampere-lts-kernel---DEPRECATED, issue 123).
const Bytes kKernelLoad = {
    0x49, 0x00,                                            // operation: load, general-purpose register
    0x52, 0x1e, 0x03,                                      // events: retired, caches accessed and refilled
    0x99, 0x51, 0x01,                                      // counter 1, issue: 337 cycles
    0x98, 0xf5, 0x01,                                      // counter 0, total: 501 cycles
    0xb2, 0x50, 0x9e, 0xd7, 0xf1, 0x3e, 0x40, 0xff, 0x00,  // address 2, virtual: 0xff403ef1d79e50
    0x9a, 0x01, 0x00,                                      // counter 2, translation: 1 cycle
    0xb3, 0x50, 0x9e, 0xd7, 0x71, 0x3f, 0x40, 0x00, 0x80,  // address 3, physical: 0x403f71d79e50
    0x43, 0x0c,                                            // data source: 12
    0x00, 0x00,                                            // padding
    0x71, 0xb3, 0x9a, 0xe9, 0xbd, 0x3e, 0x07, 0x00, 0x00,  // timestamp: 7966055570099
};

// By hand, from the manual: a program's load and its store to a tagged address.
const Bytes kLoad = {
    0xb0, 0x88, 0xb6, 0xcb, 0x8f, 0x22, 0xd4, 0x00, 0x80,  // address 0, program counter, exception level 0
    0x65, 0x11, 0x22, 0x33, 0x44,                          // context
    0x49, 0x00,                                            // operation: load
    0x42, 0x16,                                            // events: retired, cache and TLB accessed
    0x98, 0xf5, 0x01,                                      // counter 0, total: 501 cycles
    0xb2, 0x50, 0x9e, 0xd7, 0xf1, 0x3e, 0x40, 0x00, 0x00,  // address 2: 0x403ef1d79e50
    0x71, 0xb3, 0x9a, 0xe9, 0xbd, 0x3e, 0x07, 0x00, 0x00,  // timestamp
};
const Bytes kStore = {
    0x49, 0x01,                                            // operation: store
    0x42, 0x02,                                            // events: retired
    0xb2, 0x00, 0x10, 0xa0, 0x00, 0x00, 0x00, 0x00, 0xa5,  // address 2: 0xa01000, tag 0xa5
    0x01,                                                  // end: no timestamp was asked for
};
const Bytes kBranch = {0x4a, 0x01, 0x42, 0x42, 0x71, 0, 1, 2, 3, 4, 5, 6, 7};

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::vector<SpeAccess> accesses(const Bytes& bytes, std::size_t expect_skipped = 0) {
  std::vector<SpeAccess> found;
  EXPECT_EQ(spe_accesses(bytes, [&](const SpeAccess& access) { found.push_back(access); }), expect_skipped);
  return found;
}

TEST(SpePackets, OfARealRecord) {
  struct Expected {
    Kind kind;
    unsigned index;
    std::uint64_t payload;
  };
  const std::vector<Expected> expected = {
      {Kind::operation, 1, 0},
      {Kind::events, 2, 0x31e},
      {Kind::counter, 1, 337},
      {Kind::counter, 0, 501},
      {Kind::address, 2, 0xff403ef1d79e50},
      {Kind::counter, 2, 1},
      {Kind::address, 3, 0x8000403f71d79e50},
      {Kind::data_source, 3, 12},
      {Kind::padding, 0, 0},
      {Kind::padding, 0, 0},
      {Kind::timestamp, 1, 7966055570099},
  };
  std::size_t at = 0;
  for (const Expected& one : expected) {
    const auto packet = spe_packet(kKernelLoad, at);
    ASSERT_TRUE(packet) << at;
    EXPECT_EQ(packet->kind, one.kind) << at;
    EXPECT_EQ(packet->index, one.index) << at;
    EXPECT_EQ(packet->payload, one.payload) << at;
    at += packet->size;
  }
  EXPECT_EQ(at, kKernelLoad.size());
}

TEST(SpePackets, LongHeadersAndAlignment) {
  const Bytes counter = {0x21, 0x99, 0x05, 0x00};  // counter 1 + 8
  const auto packet = spe_packet(counter, 0);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->kind, Kind::counter);
  EXPECT_EQ(packet->index, 9U);
  EXPECT_EQ(packet->payload, 5U);
  EXPECT_EQ(packet->size, 4U);
  const Bytes aligned = {0x00, 0x00, 0x00, 0x22, 0x00, 0x00, 0x00, 0x00, 0x49, 0x00};  // from 3 to 8
  EXPECT_EQ(spe_packet(aligned, 3)->size, 5U);
}

TEST(SpePackets, OneThatIsCutOffIsNone) {
  for (std::size_t size = 0; size < 9; ++size) {
    EXPECT_FALSE(spe_packet(std::span(kLoad).first(size), 0)) << size;
  }
  EXPECT_FALSE(spe_packet(Bytes{0x20}, 0));
  EXPECT_FALSE(spe_packet(Bytes{0xff, 0xff}, 0)) << "no header of the manual's";
}

TEST(SpeAccesses, LoadsAndStoresOfTheProgram) {
  const auto found = accesses(joined({kLoad, kBranch, kKernelLoad, {0x00, 0x00, 0x00}, kStore, kLoad}));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].address, 0x403ef1d79e50U);
  EXPECT_FALSE(found[0].store);
  EXPECT_EQ(found[0].latency_cycles, 501U);
  EXPECT_EQ(found[1].address, 0xa01000U) << "without its tag";
  EXPECT_TRUE(found[1].store);
  EXPECT_FALSE(found[1].latency_cycles);
  EXPECT_EQ(found[2].address, found[0].address);
}

TEST(SpeAccesses, WronglyPredictedOnesAreNone) {
  Bytes load = kLoad;
  load[17] = 0x14;  // events without retired
  EXPECT_TRUE(accesses(load).empty());
}

TEST(SpeAccesses, ARecordThatIsCutOffIsNone) {
  for (std::size_t size = 0; size < kLoad.size(); ++size) {
    std::vector<SpeAccess> found;
    spe_accesses(std::span(kLoad).first(size), [&](const SpeAccess& access) { found.push_back(access); });
    EXPECT_TRUE(found.empty()) << size;
  }
}

TEST(SpeAccesses, BytesThatAreNoPacketAreSkippedAndTheirRecordWithThem) {
  const auto found = accesses(joined({{0x49, 0x00, 0xff, 0xfe}, kLoad}), 2);
  ASSERT_EQ(found.size(), 1U);
}

}  // namespace
}  // namespace memgraft::observation
