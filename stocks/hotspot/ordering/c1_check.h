// Whether every store of a method that C1 compiled has its fence: read off what C1 emits, operation by
// operation and byte by byte, and not off what the graft believes to have done. x86-64 alone, where stores
// need one and loads none (docs/ordering.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace memgraft::hotspot::c1 {

// Whether what is compiled here can be checked.
#ifdef __x86_64__
inline constexpr bool kKnowsThisMachine = true;
#else
inline constexpr bool kKnowsThisMachine = false;
#endif

// What an operation reads or writes, after registers were given out.
struct Operand {
  enum class Kind : std::uint8_t {
    none,
    number,         // a constant that is no reference: a count, a pointer of the JVM's own
    reference,      // a constant that is one
    general,        // a register that may hold an address
    place,          // another register, or a slot of the stack
    memory,         // an address in memory
    unknown_place,  // an encoding that was not expected
  };
  static constexpr int kNoRegister = -1;

  Kind kind = Kind::none;
  int general_register = kNoRegister;  // the register itself, or that of an address's base

  friend bool operator==(const Operand&, const Operand&) = default;
};

// C1's numbers of the registers that lead to no object (c1_FrameMap_x86.cpp): the thread, and the stack.
inline constexpr int kThreadRegister = 13;
inline constexpr int kStackRegister = 14;
inline constexpr int kGeneralRegisters = 16;

// An operation of C1's last form of a method, and what it became.
struct Emission {
  enum class Kind : std::uint8_t {
    label,       // other ways lead here
    simple,      // LIR_Op0: a barrier, the method's entry
    move,        // LIR_Op1: a load, a store, between registers
    arithmetic,  // LIR_Op2 and its like: may change memory in place
    copy,        // of an array
    other,       // calls, branches, allocations, locks, type checks, profiles
  };

  Kind kind = Kind::other;
  Operand input;
  Operand result;
  std::size_t begin = 0;  // where its instructions lie, from the method's first on
  std::span<const std::byte> code;
};

struct Checked {
  std::uint64_t stores = 0;  // to memory that other threads may see, and copies of arrays
  std::uint64_t own = 0;     // stores to what is the JVM's own: counters, cards, the thread
  std::uint64_t unsafe = 0;  // of `stores`, without a fence behind them; and code that nobody saw emitted
};

// Whether the code ends with the fence that HotSpot emits for a StoreLoad barrier.
bool ends_with_fence(std::span<const std::byte> code);

// One compilation.
class Check {
 public:
  // To be called for every operation, in the order of the code.
  void emitted(const Emission& emission);
  // What was found, at the end of the compilation.
  [[nodiscard]] Checked finish();

 private:
  // Where a register's value comes from, if it leads to memory of the JVM's own.
  enum class Origin : std::uint8_t { unknown, number, card };

  [[nodiscard]] bool is_own(const Operand& memory) const;
  [[nodiscard]] Origin origin_of(const Emission& emission) const;
  void stored(const Emission& emission);
  void missing_fence();

  std::array<Origin, kGeneralRegisters> origins_{};
  Checked found_;
  bool reached_ = false;  // what comes next, through what was emitted last
  bool awaits_fence_ = false;
  std::size_t end_ = 0;  // of what was emitted last
};

}  // namespace memgraft::hotspot::c1
