// The oracle that every kernel faces: memory scribbled over first, then compared byte by byte with what a
// naive loop makes of it. Shared by the tests and the fuzzer.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace memgraft::zeroing::testing {

// The same sequence of 64-bit numbers from the same seed, on every platform (SplitMix64: Steele, Lea and
// Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // In [0, limit); the slight bias does not matter here.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }

 private:
  std::uint64_t state_;
};

// Whole pages of memory between two pages that may be neither read nor written: one byte too far faults.
class GuardedPages {
 public:
  // At least `bytes`, rounded up to pages.
  explicit GuardedPages(std::size_t bytes) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    inside_ = (bytes + page_ - 1) / page_ * page_;
    all_ = mmap(nullptr, inside_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all_ == MAP_FAILED || mprotect(memory().data(), inside_, PROT_READ | PROT_WRITE) != 0) {
      std::perror("cannot map the guarded pages of a test");
      std::abort();
    }
  }
  ~GuardedPages() { munmap(all_, inside_ + 2 * page_); }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;
  GuardedPages(GuardedPages&&) = delete;
  GuardedPages& operator=(GuardedPages&&) = delete;

  [[nodiscard]] std::span<std::byte> memory() const {
    return {static_cast<std::byte*>(all_) + page_, inside_};
  }

 private:
  std::size_t page_;
  std::size_t inside_ = 0;
  void* all_ = nullptr;
};

// Fills with bytes that are random but never 0, so that every byte left alone shows.
inline void scribble(std::span<std::byte> memory, Random& random) {
  std::size_t at = 0;
  while (at < memory.size()) {
    const std::uint64_t word = random.next() | 0x0101010101010101;
    const std::size_t bytes = memory.size() - at < sizeof word ? memory.size() - at : sizeof word;
    std::memcpy(memory.data() + at, &word, bytes);
    at += bytes;
  }
}

// Scribbles over `memory`, has `zero` zero [offset, offset + bytes) of it, and compares all of it with what
// a naive loop makes of the same. Returns what is wrong, or an empty string. `expected` is room for the
// comparison, kept by the caller so that it need not be allocated each time.
inline std::string mistake(void (*zero)(void*, std::size_t), std::span<std::byte> memory, std::size_t offset,
                           std::size_t bytes, Random& random, std::vector<std::byte>& expected) {
  scribble(memory, random);
  expected.assign(memory.begin(), memory.end());
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    expected[i] = std::byte{0};
  }

  zero(memory.data() + offset, bytes);

  if (memory.empty() || std::memcmp(memory.data(), expected.data(), memory.size()) == 0) {
    return {};
  }
  std::size_t first = 0;
  while (memory[first] == expected[first]) {
    ++first;
  }
  const bool inside = first >= offset && first < offset + bytes;
  return "zeroing " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) + " of " +
         std::to_string(memory.size()) + ": the byte at offset " + std::to_string(first) + " is " +
         std::to_string(std::to_integer<int>(memory[first])) + ", expected " +
         std::to_string(std::to_integer<int>(expected[first])) +
         (inside ? " (left alone)" : " (outside, yet written)");
}

}  // namespace memgraft::zeroing::testing
