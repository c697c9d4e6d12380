#include "join/aarch64_code.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace memgraft::hotspot::aarch64 {
namespace {

using Words = std::vector<std::uint32_t>;

std::span<const std::byte> bytes_of(const Words& words) { return std::as_bytes(std::span(words)); }

// What objdump shows of a function of libjvm that keeps two registers and reads a thread's own variable.
constexpr std::uint32_t kStpFrame = 0xa9bd7bfd;       // stp x29, x30, [sp, #-48]!
constexpr std::uint32_t kMrsThread = 0xd53bd042;      // mrs x2, tpidr_el0
constexpr std::uint32_t kMovFrame = 0x910003fd;       // mov x29, sp
constexpr std::uint32_t kStpKept = 0xa90153f3;        // stp x19, x20, [sp, #16]
constexpr std::uint32_t kMovArgument = 0xaa0003f3;    // mov x19, x0
constexpr std::uint32_t kMovArgument32 = 0x2a0103f4;  // mov w20, w1
constexpr std::uint32_t kSubStack = 0xd10143ff;       // sub sp, sp, #80
constexpr std::uint32_t kStrKept = 0xf90013f5;        // str x21, [sp, #32]
constexpr std::uint32_t kStrFirst = 0xf81e0ff3;       // str x19, [sp, #-32]!
constexpr std::uint32_t kStpVectors = 0x6d0227e8;     // stp d8, d9, [sp, #32]
constexpr std::uint32_t kReturn = 0xd65f03c0;         // ret

const Words kFunction{kStpFrame, kMrsThread, kMovFrame, kStpKept, kReturn};

Words with(std::size_t place, std::uint32_t instruction) {
  Words words = kFunction;
  words.at(place) = instruction;
  return words;
}

TEST(Aarch64Code, MovesWhatMakesAFrame) {
  EXPECT_TRUE(may_be_moved(bytes_of(kFunction)));
  EXPECT_TRUE(may_be_moved(bytes_of({kSubStack, kStrKept, kStpVectors, kMovArgument})));
  EXPECT_TRUE(may_be_moved(bytes_of({kStrFirst, kMovArgument32, kStpKept, kMovFrame})));
}

TEST(Aarch64Code, NeedsRoomForAJump) {
  EXPECT_FALSE(may_be_moved({}));
  EXPECT_FALSE(may_be_moved(bytes_of({kStpFrame, kMrsThread, kMovFrame})));
}

TEST(Aarch64Code, MovesNothingElse) {
  const Words others{
      0x90006f80,  // adrp x0, ...: knows its place
      0x10000060,  // adr x0, #12
      0x58000050,  // ldr x16, #8
      0x14000001,  // b #4
      0x94000001,  // bl #4
      0x54000040,  // b.eq #8
      0x34000040,  // cbz w0, #8
      0x36000040,  // tbz w0, #0, #8
      0xd503245f,  // bti c: the way back would not land on one
      0xd503233f,  // paciasp
      0xd503201f,  // nop
      0xf9400001,  // ldr x1, [x0]
      0xf9000001,  // str x1, [x0]: not the stack
      0xa9000801,  // stp x1, x2, [x0]
      0x91000400,  // add x0, x0, #1
      0xaa0003f0,  // mov x16, x0: the way back destroys it
      0xaa1103e0,  // mov x0, x17
      0xd53bd050,  // mrs x16, tpidr_el0
      0xd53bd060,  // mrs x0, tpidrro_el0
      0x910003f1,  // mov x17, sp
      0xa90047e0,  // stp x0, x17, [sp]
      0xf90003f0,  // str x16, [sp]
      0xaa200be0,  // orn x0, xzr, x0, lsl #2
      kReturn,    0x00000000,
  };
  for (const std::uint32_t other : others) {
    for (std::size_t place = 0; place < 4; ++place) {
      EXPECT_FALSE(may_be_moved(bytes_of(with(place, other)))) << std::hex << other << " at " << place;
    }
    // Behind what is moved there may be anything that does not lead back into it.
    EXPECT_TRUE(may_be_moved(bytes_of(with(4, other)))) << std::hex << other;
  }
}

TEST(Aarch64Code, MovesNothingThatIsBranchedInto) {
  for (const std::uint32_t back : {
           0x17ffffffU,  // b #-4
           0x17fffffdU,  // b #-12
           0x54ffffc0U,  // b.eq #-8
           0xb4ffffe0U,  // cbz x0, #-4
           0x37ffffa0U,  // tbnz w0, #0, #-12
       }) {
    EXPECT_FALSE(may_be_moved(bytes_of(with(4, back)))) << std::hex << back;
  }
  EXPECT_TRUE(may_be_moved(bytes_of(with(4, 0x97fffffc))));  // bl #-16: the function calls itself
  EXPECT_TRUE(may_be_moved(bytes_of(with(4, 0x14000000))));  // b #0
}

TEST(Aarch64Code, JumpsAnywhere) {
  const Jump jump = jump_to(0x123456789abcdef0);
  std::array<std::uint32_t, 4> words{};
  std::memcpy(words.data(), jump.data(), sizeof words);
  EXPECT_EQ(words, (std::array<std::uint32_t, 4>{0x58000050, 0xd61f0200, 0x9abcdef0, 0x12345678}));
}

TEST(Aarch64Code, FindsDirectCalls) {
  // bl to itself, nop, bl two before it, b two before it, bl onwards
  const Words words{0x94000000, 0xd503201f, 0x97fffffe, 0x17fffffd, 0x94000010};
  const auto code = bytes_of(words);
  const auto start = reinterpret_cast<std::uintptr_t>(words.data());
  EXPECT_EQ(calls_to(code, start), 2U);
  EXPECT_EQ(calls_to(code, start + 16 + 64), 1U);
  EXPECT_EQ(calls_to(code, start + 4), 0U);
  EXPECT_EQ(calls_to({}, start), 0U);
}

}  // namespace
}  // namespace memgraft::hotspot::aarch64
