#include "join/entry.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "join/patch.h"

namespace memgraft::hotspot {
namespace {

using Code = std::vector<std::uint8_t>;
using Function = long (*)(long);

#if defined(__x86_64__)

// push rbp; mov rbp, rsp; push r13; push r12; push rbx; mov rbx, rdi: then rbx + 1, and everything back.
const Code kSaves{0x55, 0x48, 0x89, 0xe5, 0x41, 0x55, 0x41, 0x54, 0x53, 0x48, 0x89, 0xfb};
const Code kAddsOne{0x48, 0x8d, 0x43, 0x01, 0x5b, 0x41, 0x5c, 0x41, 0x5d, 0x5d, 0xc3};

Code operator+(Code first, const Code& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::span<const std::byte> bytes_of(const Code& code) { return std::as_bytes(std::span(code)); }

class RunnableCode {
 public:
  explicit RunnableCode(const Code& code)
      : size_(code.size()),
        place_(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    std::memcpy(place_, code.data(), code.size());
    (void)mprotect(place_, kPage, PROT_READ | PROT_EXEC);
  }
  ~RunnableCode() { (void)munmap(place_, kPage); }
  RunnableCode(const RunnableCode&) = delete;
  RunnableCode& operator=(const RunnableCode&) = delete;

  [[nodiscard]] std::span<const std::byte> code() const {
    return {static_cast<const std::byte*>(place_), size_};
  }
  [[nodiscard]] Function function() const { return reinterpret_cast<Function>(place_); }

 private:
  static constexpr std::size_t kPage = 4096;
  std::size_t size_;
  void* place_;
};

Function original;

long thousand_more(long value) { return original(value) + 1000; }

TEST(Entry, ReachesTheReplacementAndTheFunctionBehindIt) {
  const RunnableCode function(kSaves + kAddsOne);
  ASSERT_EQ(function.function()(1), 2);
  ASSERT_TRUE(can_hook_entry(function.code()));
  Patch patch;
  original = reinterpret_cast<Function>(
      hook_entry(patch, function.code(), reinterpret_cast<std::uintptr_t>(&thousand_more)));
  EXPECT_EQ(function.function()(1), 1002);
  EXPECT_EQ(original(1), 2);
  patch.undo();
  EXPECT_EQ(function.function()(1), 2);
}

TEST(Entry, IsRefusedWhereAnInstructionKnowsItsPlace) {
  // lea rax, [rip + 0] within the bytes that would have to be moved.
  const Code lea{0x55, 0x48, 0x8d, 0x05, 0x00, 0x00, 0x00, 0x00, 0x41, 0x55, 0x41, 0x54, 0x53, 0xc3};
  EXPECT_FALSE(can_hook_entry(bytes_of(lea)));
  Patch patch;
  EXPECT_THROW((void)hook_entry(patch, bytes_of(lea), 1), std::logic_error);
}

TEST(Entry, IsRefusedWhereAJumpDoesNotFit) {
  EXPECT_FALSE(can_hook_entry(bytes_of(Code{0x55, 0x5d, 0xc3})));
  EXPECT_FALSE(can_hook_entry(bytes_of(Code(kSaves.begin(), kSaves.end() - 3))));
  EXPECT_FALSE(can_hook_entry({}));
}

// push rbp; mov rbp, rsp; push r13; push r12; lea r13, [rbp - 0x60]
const Code kTakesAnAddress{0x55, 0x48, 0x89, 0xe5, 0x41, 0x55, 0x41, 0x54, 0x4c, 0x8d, 0x6d, 0xa0};

TEST(Entry, MayTakeTheAddressOfALocalVariable) {
  EXPECT_TRUE(can_hook_entry(bytes_of(kTakesAnAddress)));
  // mod 00 of the same register: relative to the instruction.
  Code relative = kTakesAnAddress;
  relative.at(10) = 0x2d;
  EXPECT_FALSE(can_hook_entry(bytes_of(relative)));
}

TEST(Entry, MayTakeTheAddressOfALocalVariableFarAway) {
  // push rbp; mov rbp, rsp; push r15; push r14; lea r14, [rbp - 0x25a0]
  Code far{0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x41, 0x56, 0x4c, 0x8d, 0xb5, 0x60, 0xda, 0xff, 0xff};
  EXPECT_TRUE(can_hook_entry(bytes_of(far)));
  far.pop_back();
  EXPECT_FALSE(can_hook_entry(bytes_of(far))) << "only a part of it";
}

TEST(Entry, MayBeginWithEndbranchAndAFrame) {
  // endbr64; push rbp; mov rbp, rsp; sub rsp, 8; sub rsp, 0x100
  const Code frame{0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83,
                   0xec, 0x08, 0x48, 0x81, 0xec, 0x00, 0x01, 0x00, 0x00};
  EXPECT_TRUE(can_hook_entry(bytes_of(frame)));
}

#else

TEST(Entry, IsNeverTakenHere) {
  const Code code(64, 0);
  EXPECT_FALSE(can_hook_entry(std::as_bytes(std::span(code))));
}

#endif

}  // namespace
}  // namespace memgraft::hotspot
