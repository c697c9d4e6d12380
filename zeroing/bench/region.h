// The memory that the benchmarks zero.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace memgraft::zeroing::bench {

// Anonymous memory, page-aligned, every page of it touched: no first-touch fault falls into a measurement.
// It has the pages that the system gives by default (no madvise), which is what the heap of a JVM with
// default flags has.
class Region {
 public:
  explicit Region(std::size_t bytes);  // exits with a message when the system refuses
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  Region(Region&&) = delete;
  Region& operator=(Region&&) = delete;

  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }

 private:
  std::span<std::byte> memory_;
};

// How large a region to stream through, and why.
struct StreamSize {
  std::size_t bytes;
  std::string reason;  // empty where `bytes` is as wanted; else what is short, for people
};

// Wants 512 MiB, or four times the last-level cache if that is more; takes no more than half of the memory
// that is free in this system and control group, in powers of two from there down.
StreamSize stream_size();

// How many bytes are zeroed between a block's zeroing and its late use: a power of two, at least twice the
// L2 cache, so that a block has left it by then whatever its policy of replacement.
std::size_t late_distance();

// What the system says of transparent huge pages ("always", "madvise", "never"), or "unknown".
std::string transparent_huge_pages();

}  // namespace memgraft::zeroing::bench
