#include "../a64_kind.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace {

struct Instruction {
  std::uint32_t word;
  std::string_view text;
  a64_kind kind;
};

// As GNU's assembler makes them of the text.
constexpr std::array kInstructions = std::to_array<Instruction>({
    {.word = 0xd5033bbf, .text = "dmb ish", .kind = kBarrier},
    {.word = 0xd50339bf, .text = "dmb ishld", .kind = kBarrierLoads},
    {.word = 0xd5033abf, .text = "dmb ishst", .kind = kBarrierStores},
    {.word = 0xd5033fbf, .text = "dmb sy", .kind = kOther},
    {.word = 0xd5033fdf, .text = "isb", .kind = kOther},
    {.word = 0xc8dffc20, .text = "ldar x0, [x1]", .kind = kLoadAcquire},
    {.word = 0x08dffc20, .text = "ldarb w0, [x1]", .kind = kLoadAcquire},
    {.word = 0x48dfffe3, .text = "ldarh w3, [sp]", .kind = kLoadAcquire},
    {.word = 0x889ffc20, .text = "stlr w0, [x1]", .kind = kStoreRelease},
    {.word = 0x089ffc20, .text = "stlrb w0, [x1]", .kind = kStoreRelease},
    {.word = 0xc89fffbe, .text = "stlr x30, [x29]", .kind = kStoreRelease},
    {.word = 0xc85ffc20, .text = "ldaxr x0, [x1]", .kind = kAtomic},
    {.word = 0xc802fc20, .text = "stlxr w2, x0, [x1]", .kind = kAtomic},
    {.word = 0x885f7c20, .text = "ldxr w0, [x1]", .kind = kAtomic},
    {.word = 0x88027c20, .text = "stxr w2, w0, [x1]", .kind = kAtomic},
    {.word = 0xc8e0fc41, .text = "casal x0, x1, [x2]", .kind = kAtomic},
    {.word = 0x88a07c41, .text = "cas w0, w1, [x2]", .kind = kAtomic},
    {.word = 0xf8e00041, .text = "ldaddal x0, x1, [x2]", .kind = kAtomic},
    {.word = 0xb8e08041, .text = "swpal w0, w1, [x2]", .kind = kAtomic},
    {.word = 0xf820005f, .text = "stadd x0, [x2]", .kind = kAtomic},
    {.word = 0xf9400020, .text = "ldr x0, [x1]", .kind = kLoad},
    {.word = 0xb9400420, .text = "ldr w0, [x1, #4]", .kind = kLoad},
    {.word = 0x38626820, .text = "ldrb w0, [x1, x2]", .kind = kLoad},
    {.word = 0xb9800820, .text = "ldrsw x0, [x1, #8]", .kind = kLoad},
    {.word = 0x39c00020, .text = "ldrsb w0, [x1]", .kind = kLoad},
    {.word = 0xf85f8020, .text = "ldur x0, [x1, #-8]", .kind = kLoad},
    {.word = 0xa8c107e0, .text = "ldp x0, x1, [sp], #16", .kind = kLoad},
    {.word = 0x69400440, .text = "ldpsw x0, x1, [x2]", .kind = kLoad},
    {.word = 0x3dc00020, .text = "ldr q0, [x1]", .kind = kLoad},
    {.word = 0xfd400420, .text = "ldr d0, [x1, #8]", .kind = kLoad},
    {.word = 0xbd400020, .text = "ldr s0, [x1]", .kind = kLoad},
    {.word = 0x7d400020, .text = "ldr h0, [x1]", .kind = kLoad},
    {.word = 0x3d400020, .text = "ldr b0, [x1]", .kind = kLoad},
    {.word = 0xad400420, .text = "ldp q0, q1, [x1]", .kind = kLoad},
    {.word = 0xa8400440, .text = "ldnp x0, x1, [x2]", .kind = kLoad},
    {.word = 0x4c407020, .text = "ld1 {v0.16b}, [x1]", .kind = kLoad},
    {.word = 0x4cdf0820, .text = "ld4 {v0.4s-v3.4s}, [x1], #64", .kind = kLoad},
    {.word = 0x58000040, .text = "ldr x0, label", .kind = kLoad},
    {.word = 0x9c000080, .text = "ldr q0, label", .kind = kLoad},
    {.word = 0x18000040, .text = "ldr w0, label", .kind = kLoad},
    {.word = 0xf9000020, .text = "str x0, [x1]", .kind = kStore},
    {.word = 0xb900043f, .text = "str wzr, [x1, #4]", .kind = kStore},
    {.word = 0x38226820, .text = "strb w0, [x1, x2]", .kind = kStore},
    {.word = 0x78002420, .text = "strh w0, [x1], #2", .kind = kStore},
    {.word = 0xf81f8020, .text = "stur x0, [x1, #-8]", .kind = kStore},
    {.word = 0xa9bf7bfd, .text = "stp x29, x30, [sp, #-16]!", .kind = kStore},
    {.word = 0xad000420, .text = "stp q0, q1, [x1]", .kind = kStore},
    {.word = 0x3d800020, .text = "str q0, [x1]", .kind = kStore},
    {.word = 0xfd000420, .text = "str d0, [x1, #8]", .kind = kStore},
    {.word = 0xbd000020, .text = "str s0, [x1]", .kind = kStore},
    {.word = 0x7d000020, .text = "str h0, [x1]", .kind = kStore},
    {.word = 0xa8000440, .text = "stnp x0, x1, [x2]", .kind = kStore},
    {.word = 0x4c007020, .text = "st1 {v0.16b}, [x1]", .kind = kStore},
    {.word = 0x4c008820, .text = "st2 {v0.4s, v1.4s}, [x1]", .kind = kStore},
    {.word = 0xf9800030, .text = "prfm pstl1keep, [x1]", .kind = kOther},
    {.word = 0xf8a26820, .text = "prfm pldl1keep, [x1, x2]", .kind = kOther},
    {.word = 0xf89f8030, .text = "prfum pstl1keep, [x1, #-8]", .kind = kOther},
    {.word = 0xd8000040, .text = "prfm pldl1keep, label", .kind = kOther},
    {.word = 0x8b020020, .text = "add x0, x1, x2", .kind = kOther},
    {.word = 0xd2800020, .text = "mov x0, #1", .kind = kOther},
    {.word = 0x14000001, .text = "b label", .kind = kOther},
    {.word = 0xd63f0100, .text = "blr x8", .kind = kOther},
    {.word = 0xd503201f, .text = "nop", .kind = kOther},
    {.word = 0x1e622820, .text = "fadd d0, d1, d2", .kind = kOther},
    {.word = 0x4ea28420, .text = "add v0.4s, v1.4s, v2.4s", .kind = kOther},
    {.word = 0xd53bd040, .text = "mrs x0, tpidr_el0", .kind = kOther},
    {.word = 0x9b020c20, .text = "madd x0, x1, x2, x3", .kind = kOther},
    {.word = 0x9ac24c20, .text = "crc32x w0, w1, x2", .kind = kOther},
    {.word = 0x4e284820, .text = "aese v0.16b, v1.16b", .kind = kOther},
});

TEST(A64Kind, IsTold) {
  for (const Instruction& instruction : kInstructions) {
    EXPECT_EQ(a64_kind_of(instruction.word), instruction.kind) << instruction.text;
  }
}

}  // namespace
