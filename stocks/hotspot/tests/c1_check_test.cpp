#include "ordering/c1_check.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace memgraft::hotspot::c1 {
namespace {

using Kind = Emission::Kind;
using Bytes = std::vector<std::byte>;

Bytes bytes(std::initializer_list<unsigned> values) {
  Bytes made;
  for (const unsigned value : values) {
    made.push_back(static_cast<std::byte>(value));
  }
  return made;
}

// Encodings of the Intel SDM, volume 2.
const Bytes kFence = bytes({0xf0, 0x83, 0x44, 0x24, 0xc0, 0x00});        // lock addl [rsp-64], 0
const Bytes kUnlocked = bytes({0x90, 0x83, 0x44, 0x24, 0xc0, 0x00});     // nop; addl [rsp-64], 0
const Bytes kStore = bytes({0x89, 0x46, 0x0c});                          // mov [rsi+12], eax
const Bytes kLoad = bytes({0x8b, 0x46, 0x10});                           // mov eax, [rsi+16]
const Bytes kBetweenRegisters = bytes({0x48, 0x89, 0xc7});               // mov rdi, rax
const Bytes kCardShift = bytes({0x48, 0xc1, 0xef, 0x09});                // shr rdi, 9
const Bytes kOtherShift = bytes({0x48, 0xc1, 0xef, 0x03});               // shr rdi, 3
const Bytes kCardMark = bytes({0xc6, 0x87, 0x00, 0x00, 0x10, 0x00, 0});  // mov byte [rdi+0x100000], 0
const Bytes kConstant = bytes({0x48, 0xbf, 1, 2, 3, 4, 5, 6, 7, 8});     // mov rdi, imm64
const Bytes kAdd = bytes({0x48, 0x83, 0x87, 8, 0, 0, 0, 1});             // add qword [rdi+8], 1
const Bytes kCall = bytes({0xe8, 0, 0, 0, 0});
const Bytes kNothing;

// C1's numbers: rsi is 0, rdi is 1, rax is 3.
constexpr int kRsi = 0;
constexpr int kRdi = 1;
constexpr int kRax = 3;

Operand general(int number) { return {.kind = Operand::Kind::general, .general_register = number}; }
Operand memory(int base) { return {.kind = Operand::Kind::memory, .general_register = base}; }
constexpr Operand kSlot{.kind = Operand::Kind::place};
constexpr Operand kNumber{.kind = Operand::Kind::number};
constexpr Operand kReference{.kind = Operand::Kind::reference};

// A method, as C1 emits it.
class Method {
 public:
  // Emits an operation behind what was emitted before.
  Method& add(Kind kind, const Operand& input, const Operand& result, const Bytes& code) {
    const std::span<const std::byte> kept = kept_.emplace_back(code);
    check_.emitted({.kind = kind, .input = input, .result = result, .begin = end_, .code = kept});
    end_ += code.size();
    return *this;
  }
  Method& move(const Operand& input, const Operand& result, const Bytes& code) {
    return add(Kind::move, input, result, code);
  }
  Method& store() { return move(general(kRax), memory(kRsi), kStore); }
  Method& load() { return move(memory(kRsi), general(kRax), kLoad); }
  Method& fence() { return add(Kind::simple, {}, {}, kFence); }
  Method& label() { return add(Kind::label, {}, {}, kNothing); }
  void pad() { ++end_; }

  void expect(std::uint64_t stores, std::uint64_t own, std::uint64_t unsafe) {
    const Checked found = check_.finish();
    EXPECT_EQ(found.stores, stores);
    EXPECT_EQ(found.own, own);
    EXPECT_EQ(found.unsafe, unsafe);
  }

 private:
  Check check_;
  std::deque<Bytes> kept_;
  std::size_t end_ = 0;
};

TEST(C1Check, AcceptsAStoreWithItsFence) {
  Method method;
  method.store().fence().load();
  method.expect(1, 0, 0);
}

TEST(C1Check, FindsAStoreWithoutItsFence) {
  Method method;
  method.store().load();
  method.expect(1, 0, 1);
}

TEST(C1Check, FindsAStoreAtTheEnd) {
  Method method;
  method.store();
  method.expect(1, 0, 1);
}

TEST(C1Check, FindsAFenceThatComesTooLate) {
  Method method;
  method.store().load().fence();
  method.expect(1, 0, 1);
}

TEST(C1Check, FindsABarrierThatIsNone) {
  Method method;
  method.store().add(Kind::simple, {}, {}, kUnlocked).load();
  method.expect(1, 0, 1);
}

TEST(C1Check, FindsAStoreBeforeACallABranchAndALabel) {
  Method method;
  method.store().add(Kind::other, {}, general(kRax), kCall).fence();
  method.store().add(Kind::arithmetic, {}, {}, bytes({0x74, 0x00})).fence();
  method.store().label().fence();
  method.expect(3, 0, 3);
}

TEST(C1Check, FindsTheFirstOfTwoStores) {
  Method method;
  method.store().store().fence();
  method.expect(2, 0, 1);
}

TEST(C1Check, AcceptsMovesBetweenRegistersBeforeTheFence) {
  Method method;
  method.store()
      .move(general(kRax), general(kRdi), kBetweenRegisters)
      .move(general(kRax), kSlot, kNothing)
      .fence();
  method.expect(1, 0, 0);
}

TEST(C1Check, FindsArithmeticOnMemory) {
  Method method;
  method.add(Kind::arithmetic, memory(kRsi), memory(kRsi), kAdd).load();
  method.expect(1, 0, 1);
}

TEST(C1Check, AcceptsACopyWithItsFenceAlone) {
  Method method;
  Bytes fenced = kCall;
  fenced.insert(fenced.end(), kFence.begin(), kFence.end());
  method.add(Kind::copy, {}, {}, fenced);
  method.add(Kind::copy, {}, {}, kCall);
  method.expect(2, 0, 1);
}

TEST(C1Check, ExcusesTheThreadAndTheStack) {
  Method method;
  method.move(general(kRax), memory(kThreadRegister), kStore)
      .move(general(kRax), memory(kStackRegister), kStore);
  method.expect(0, 2, 0);
}

TEST(C1Check, ExcusesCounters) {
  Method method;
  method.move(kNumber, general(kRdi), kConstant).add(Kind::arithmetic, {}, memory(kRdi), kAdd);
  method.move(general(kRdi), general(kRsi), kBetweenRegisters).store();
  method.expect(0, 2, 0);
}

TEST(C1Check, DoesNotExcuseStatics) {
  Method method;
  method.move(kReference, general(kRdi), kConstant).move(general(kRax), memory(kRdi), kStore);
  method.expect(1, 0, 1);
}

TEST(C1Check, ExcusesCards) {
  Method method;
  method.add(Kind::arithmetic, {}, general(kRdi), kCardShift).move(kNumber, memory(kRdi), kCardMark);
  method.expect(0, 1, 0);
}

TEST(C1Check, DoesNotExcuseWhatIsShiftedOtherwise) {
  Method method;
  method.add(Kind::arithmetic, {}, general(kRdi), kOtherShift).move(kNumber, memory(kRdi), kCardMark);
  method.expect(1, 0, 1);
}

TEST(C1Check, ForgetsARegisterThatIsWrittenAgain) {
  Method method;
  method.move(kNumber, general(kRdi), kConstant).move(memory(kRsi), general(kRdi), kLoad);
  method.move(general(kRax), memory(kRdi), kStore);
  method.expect(1, 0, 1);
}

TEST(C1Check, ForgetsRegistersWhereOtherWaysMayLeadTo) {
  Method method;
  method.move(kNumber, general(kRdi), kConstant).label().move(general(kRax), memory(kRdi), kStore);
  method.move(kNumber, general(kRdi), kConstant).add(Kind::other, {}, {}, kCall);
  method.move(general(kRax), memory(kRdi), kStore);
  method.expect(2, 0, 2);
}

TEST(C1Check, DoesNotExcuseARegisterThatItCannotTell) {
  Method method;
  method.move(general(kRax), memory(Operand::kNoRegister), kStore).load();
  method.expect(1, 0, 1);
}

TEST(C1Check, FindsCodeThatNobodySawEmitted) {
  Method method;
  method.load();
  method.pad();
  method.load();
  method.expect(0, 0, 1);
}

TEST(C1Check, FindsSuchCodeBehindAConditionalBranch) {
  Method method;
  method.add(Kind::arithmetic, {}, {}, bytes({0x0f, 0x84, 0, 0, 0, 0}));
  method.pad();
  method.load();
  method.expect(0, 0, 1);
}

TEST(C1Check, AcceptsStubsBehindWhatDoesNotReachThem) {
  Method method;
  for (const Bytes& end : {bytes({0xe9, 0, 0, 0, 0}), bytes({0xeb, 0}), bytes({0x5d, 0xc3}),
                           bytes({0x48, 0x89, 0xc7, 0xe8, 0, 0, 0, 0, 0x90})}) {
    method.add(Kind::other, {}, {}, end);
    method.pad();
  }
  method.load();
  method.expect(0, 0, 0);
}

TEST(C1Check, AcceptsPaddingBeforeABlock) {
  Method method;
  method.load();
  method.pad();
  method.label().load();
  method.expect(0, 0, 0);
}

}  // namespace
}  // namespace memgraft::hotspot::c1
