// Quantities with units as types: a count of heap words cannot be passed where bytes are meant.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace memgraft {

// A number of Tag's unit. Only what makes sense for every unit is here: order, sums, multiples and parts, and
// how often one is contained in another.
template <typename Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::uint64_t count) : count_(count) {}

  [[nodiscard]] constexpr std::uint64_t count() const { return count_; }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.count_ + b.count_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.count_ - b.count_); }
  constexpr Quantity& operator+=(Quantity more) { return *this = *this + more; }
  constexpr Quantity& operator-=(Quantity less) { return *this = *this - less; }

  friend constexpr Quantity operator*(Quantity a, std::uint64_t times) { return Quantity(a.count_ * times); }
  friend constexpr Quantity operator*(std::uint64_t times, Quantity a) { return a * times; }
  // As with numbers: rounded down.
  friend constexpr Quantity operator/(Quantity a, std::uint64_t parts) { return Quantity(a.count_ / parts); }
  friend constexpr std::uint64_t operator/(Quantity a, Quantity b) { return a.count_ / b.count_; }
  friend constexpr Quantity operator%(Quantity a, Quantity b) { return Quantity(a.count_ % b.count_); }

  // For the messages of tests. A template, so that only who prints needs <ostream>.
  template <typename Stream>
  friend Stream& operator<<(Stream& out, Quantity a) {
    out << a.count_;
    return out;
  }

 private:
  std::uint64_t count_ = 0;
};

using Bytes = Quantity<struct BytesTag>;
// HotSpot's HeapWord: the unit in which it sizes objects and TLABs. 8 bytes on every 64-bit JVM.
using Words = Quantity<struct WordsTag>;
// Ticks of the time-stamp counter, which on CPUs with `constant_tsc` runs at one rate whatever the core clock
// does (Intel SDM vol. 3B, section 18.17).
using Cycles = Quantity<struct CyclesTag>;
using Nanoseconds = Quantity<struct NanosecondsTag>;

inline constexpr std::uint64_t kBytesPerWord = 8;

constexpr Bytes to_bytes(Words words) { return Bytes(words.count() * kBytesPerWord); }
// The whole words in so many bytes.
constexpr Words to_words(Bytes bytes) { return Words(bytes.count() / kBytesPerWord); }

// 10_words
constexpr Words operator""_words(unsigned long long count) { return Words(count); }

constexpr double to_seconds(Nanoseconds time) {
  constexpr double kSecondsPerNanosecond = 1e-9;
  return static_cast<double>(time.count()) * kSecondsPerNanosecond;
}

}  // namespace memgraft
