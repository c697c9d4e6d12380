// A nursery for tests: memory that the helper zeroes ahead, handed out piece by piece by many threads.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "memgraft/deep.h"
#include "memgraft/zeroing.h"
#include "memgraft/zeroing_ahead.h"
#include "oracle.h"

namespace memgraft::zeroing::testing {

// Never written by anything else here, so that a byte of it that changes shows.
constexpr std::byte kDirt{0xd1};

// Through the C library, as is what follows: sanitizers check that once a call and not once a byte.
inline void fill(std::span<std::byte> memory, std::byte value) {
  std::memset(memory.data(), std::to_integer<int>(value), memory.size());
}

// Whether every byte is `value`.
inline bool holds(std::span<const std::byte> memory, std::byte value) {
  return memory.empty() ||
         (memory[0] == value && std::memcmp(memory.data(), memory.data() + 1, memory.size() - 1) == 0);
}

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = kKiB * kKiB;

class Nursery {
 public:
  static constexpr std::size_t kChunkBytes = 256 * kKiB;

  explicit Nursery(std::size_t bytes) : pages_(bytes), used_(bytes / kChunkBytes + 1) {}

  [[nodiscard]] std::span<std::byte> memory() const { return pages_.memory(); }
  void soil() const { fill(memory(), kDirt); }

  void free_all() {
    for (auto& used : used_) {
      used.store(0);
    }
  }
  [[nodiscard]] std::size_t chunks() const { return memory().size() / kChunkBytes; }
  // The next piece of a chunk, shorter or empty at its end.
  std::span<std::byte> next(std::size_t chunk, std::size_t bytes) {
    const std::size_t at = std::min(used_[chunk].fetch_add(bytes), kChunkBytes);
    return memory().subspan(chunk * kChunkBytes + at, std::min(bytes, kChunkBytes - at));
  }

 private:
  GuardedPages pages_;
  std::vector<std::atomic<std::size_t>> used_;
};

inline ZeroingAhead::Settings settings(bool may_steal, std::size_t block_bytes) {
  return {.zero_ahead = memgraft_zero_non_temporal,
          .zero_now = memgraft_zero,
          .block_bytes = block_bytes,
          .may_steal = may_steal};
}

// Waits until `done`, for at most four minutes: says whether it came about.
template <class Done>
bool eventually(Done done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(4);
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

}  // namespace memgraft::zeroing::testing
