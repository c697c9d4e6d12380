// Handing out a thread's memory in small windows: HotSpot asks for a TLAB of megabytes, gets a window of some
// kilobytes of it, asks again when that is full, and gets the next.
//
// A window is zeroed just before it is used, so that the zeroes are still in the cache when the objects are
// written. A zeroed TLAB of megabytes has left the caches by then. Nothing is lost at the seams: when HotSpot
// retires a window, its unused rest goes back to the chunk instead of being filled with a dummy object.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "join/heap_methods.h"

namespace memgraft::hotspot {

// The chunk from which one thread takes its windows. Only that thread uses it, or somebody while the world is
// stopped.
struct Chunk {
  std::byte* next = nullptr;  // what has not been handed out: [next, end); null when there is no chunk
  std::byte* end = nullptr;
  std::byte* clean =
      nullptr;            // [next, clean) is zero already, where clean > next: the rest of the last window
  std::size_t bytes = 0;  // of the whole chunk
  bool window_is_out = false;     // the window that ends at `next` is HotSpot's now
  std::atomic<bool> free{false};  // its thread has ended: another may have it
  Chunk* sibling = nullptr;

  [[nodiscard]] std::size_t rest_bytes() const { return static_cast<std::size_t>(end - next); }
};

class Windows {
 public:
  struct Window {
    std::byte* start = nullptr;
    std::size_t bytes = 0;
    std::size_t clean_bytes = 0;  // of these the first ones are zero already
  };
  enum class Answer : std::uint8_t {
    window,       // here it is
    needs_chunk,  // the chunk's rest was given up: ask the heap for a new one
    outside,      // too large for the rest, and the rest is too large to give up: allocate it outside
  };

  // A filler object needs two words (CollectedHeap::min_fill_size(), JDK 17 to 25, without compact headers).
  static constexpr std::size_t kLeastBytes = 16;

  void configure(std::size_t window_bytes, FillWithObjects fill);

  // A window of at least `least_bytes` from the calling thread's chunk.
  Answer take(std::size_t least_bytes, Window& window);
  // Makes [start, start + bytes) the calling thread's chunk, and takes its first window. What it still had of
  // another one is filled.
  Window open(std::byte* start, std::size_t bytes, std::size_t least_bytes);
  // HotSpot would fill [start, end) with a dummy object: true where that is the rest of the calling thread's
  // window, which then belongs to the chunk again and is filled later if need be.
  static bool take_back(std::byte* start, const std::byte* end);
  // Before a collection or a walk of the heap, the world stopped: fills what no thread was handed, so that
  // the heap can be walked, and forgets all chunks.
  void close_all();

  [[nodiscard]] std::uint64_t handed_out() const { return handed_out_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t given_up_bytes() const { return given_up_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t window_bytes() const { return window_bytes_; }

 private:
  Chunk& mine();
  Window cut(Chunk& chunk, std::size_t least_bytes);
  void give_up(Chunk& chunk);

  std::size_t window_bytes_ = 0;
  FillWithObjects fill_ = nullptr;
  std::atomic<Chunk*> chunks_{nullptr};
  std::atomic<std::uint64_t> handed_out_{0};
  std::atomic<std::uint64_t> given_up_{0};
};

}  // namespace memgraft::hotspot
