#include "join/call_site.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>

namespace memgraft::hotspot {
namespace {

#if defined(__x86_64__)

// A page of machine code and, at its end, import cells: everything within reach of a 32-bit displacement.
class Segment {
 public:
  void put(std::size_t offset, std::initializer_list<unsigned> bytes) {
    for (const unsigned byte : bytes) {
      code_.at(offset++) = static_cast<std::byte>(byte);
    }
  }
  // A displacement at `offset`, counted from the end of its own four bytes, to `target`.
  void put_displacement(std::size_t offset, const void* target) {
    const auto value =
        static_cast<std::int32_t>(static_cast<const std::byte*>(target) - &code_.at(offset) - 4);
    std::memcpy(&code_.at(offset), &value, sizeof value);
  }
  [[nodiscard]] const std::byte* at(std::size_t offset) const { return &code_.at(offset); }
  [[nodiscard]] std::size_t calls(std::size_t function_bytes) {
    const std::array<std::uintptr_t*, 1> cells{&wanted};
    const std::span<const std::byte> segment(code_);
    return calls_through(segment.first(function_bytes), segment, cells);
  }

  std::uintptr_t wanted = 0;
  std::uintptr_t other = 0;

 private:
  std::array<std::byte, 256> code_{};
};

constexpr std::size_t kStub = 128;

TEST(CallSite, SeesACallThroughTheCell) {
  Segment segment;
  segment.put(10, {0xff, 0x15});
  segment.put_displacement(12, &segment.wanted);
  EXPECT_EQ(segment.calls(64), 1U);
  segment.put_displacement(12, &segment.other);
  EXPECT_EQ(segment.calls(64), 0U);
}

TEST(CallSite, SeesADirectCallOfAStub) {
  Segment segment;
  segment.put(kStub, {0xff, 0x25});
  segment.put_displacement(kStub + 2, &segment.wanted);
  segment.put(20, {0xe8});
  segment.put_displacement(21, segment.at(kStub));
  EXPECT_EQ(segment.calls(64), 1U);
  segment.put_displacement(kStub + 2, &segment.other);
  EXPECT_EQ(segment.calls(64), 0U);
}

TEST(CallSite, SeesStubsWithBranchTrackingAndBndPrefix) {
  Segment segment;
  segment.put(kStub, {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25});
  segment.put_displacement(kStub + 7, &segment.wanted);
  segment.put(20, {0xe8});
  segment.put_displacement(21, segment.at(kStub));
  EXPECT_EQ(segment.calls(64), 1U);
}

TEST(CallSite, CountsEveryCallAndStaysInsideTheFunction) {
  Segment segment;
  for (const std::size_t offset : {std::size_t{0}, std::size_t{30}, std::size_t{58}}) {
    segment.put(offset, {0xff, 0x15});
    segment.put_displacement(offset + 2, &segment.wanted);
  }
  EXPECT_EQ(segment.calls(64), 3U);
  // The last instruction ends one byte behind a function of 63 bytes.
  EXPECT_EQ(segment.calls(63), 2U);
  EXPECT_EQ(segment.calls(0), 0U);
}

TEST(CallSite, DoesNotFollowACallOutOfTheSegment) {
  Segment segment;
  segment.put(20, {0xe8, 0xff, 0xff, 0xff, 0x7f});
  segment.put(40, {0xe8, 0x00, 0x00, 0x00, 0x80});
  EXPECT_EQ(segment.calls(64), 0U);
}

TEST(CallSite, DoesNotReadAStubBeyondTheSegment) {
  Segment segment;
  segment.put(20, {0xe8});
  segment.put_displacement(21, segment.at(255));
  EXPECT_EQ(segment.calls(64), 0U);
}

#endif

}  // namespace
}  // namespace memgraft::hotspot
