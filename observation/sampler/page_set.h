// A bounded set of pages, with a number for each. Changed under the sampler's lock; looked at without it only
// where nothing is ever taken out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memgraft::observation {

template <std::size_t kSlots>
class PageSet {
 public:
  static_assert((kSlots & (kSlots - 1)) == 0, "a mask finds the slot");
  static constexpr std::size_t kMost = kSlots / 2;  // so that probes stay short

  [[nodiscard]] std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool has(std::uintptr_t page) const { return find(page) != kSlots; }

  // False where it is full.
  bool insert(std::uintptr_t page, std::uint32_t number) {
    if (has(page)) {
      return true;
    }
    if (size() == kMost) {
      return false;
    }
    std::size_t slot = home(page);
    while (at(slot) != 0) {
      slot = (slot + 1) % kSlots;
    }
    numbers_[slot] = number;
    pages_[slot].store(page, std::memory_order_relaxed);
    size_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  bool erase(std::uintptr_t page) {
    std::size_t hole = find(page);
    if (hole == kSlots) {
      return false;
    }
    // What follows moves up, so that no probe ends at the hole before what it looks for.
    for (std::size_t slot = (hole + 1) % kSlots; at(slot) != 0; slot = (slot + 1) % kSlots) {
      const std::size_t wanted = home(at(slot));
      if ((slot - wanted) % kSlots >= (slot - hole) % kSlots) {
        pages_[hole].store(at(slot), std::memory_order_relaxed);
        numbers_[hole] = numbers_[slot];
        hole = slot;
      }
    }
    pages_[hole].store(0, std::memory_order_relaxed);
    size_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

  void clear() {
    for (auto& page : pages_) {
      page.store(0, std::memory_order_relaxed);
    }
    size_.store(0, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint32_t number_of(std::uintptr_t page) const {
    const std::size_t slot = find(page);
    return slot == kSlots ? 0 : numbers_[slot];
  }

  template <typename Function>
  void for_each(Function function) const {
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      if (at(slot) != 0) {
        function(at(slot));
      }
    }
  }

 private:
  [[nodiscard]] std::uintptr_t at(std::size_t slot) const {
    return pages_[slot].load(std::memory_order_relaxed);
  }
  // Fibonacci hashing: the upper bits of a product with 2^64 / phi (Knuth, volume 3, 6.4).
  static std::size_t home(std::uintptr_t page) {
    return static_cast<std::size_t>((page * 0x9e3779b97f4a7c15ULL) >> 40U) % kSlots;
  }
  [[nodiscard]] std::size_t find(std::uintptr_t page) const {
    for (std::size_t slot = home(page), probes = 0; probes < kSlots; slot = (slot + 1) % kSlots, ++probes) {
      if (at(slot) == page) {
        return slot;
      }
      if (at(slot) == 0) {
        return kSlots;
      }
    }
    return kSlots;
  }

  std::atomic<std::uintptr_t> pages_[kSlots]{};
  std::uint32_t numbers_[kSlots]{};
  std::atomic<std::size_t> size_{0};
};

}  // namespace memgraft::observation
