// The size of the cache block that one instruction zeroes (DC ZVA, dcbz, cbo.zero): told by the CPU at run
// time.
#pragma once

#include <atomic>
#include <cstddef>

namespace memgraft::zeroing {

// `bytes` if a block can have that size, else 0: a power of two from 16 bytes to 4 KiB, the smallest page.
// No CPU known has less than 32 or more than 2048; anything else is a mistake in how the size was found out.
constexpr std::size_t sane_block(std::size_t bytes) {
  constexpr std::size_t kLeast = 16;
  constexpr std::size_t kMost = 4096;
  const bool power_of_two = (bytes & (bytes - 1)) == 0;
  return bytes >= kLeast && bytes <= kMost && power_of_two ? bytes : 0;
}

// A block's size as a kernel reads it: written when the CPU is looked at, 0 before and where it has none.
class KnownBlock {
 public:
  // Is it a size that a block can have?
  bool found(std::size_t bytes) {
    const std::size_t sane = sane_block(bytes);
    bytes_.store(sane, std::memory_order_relaxed);  // relaxed: see unit()
    return sane != 0;
  }

  // What `Store::unit` is to be. A thread that does not see the size yet, or a kernel called where it is not
  // available, gets more than any length: all is then zeroed by `Store::Smaller`, which is as right. Hence
  // relaxed.
  [[nodiscard]] std::size_t unit() const {
    const std::size_t bytes = bytes_.load(std::memory_order_relaxed);
    return bytes != 0 ? bytes : ~std::size_t{0};
  }

 private:
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace memgraft::zeroing
