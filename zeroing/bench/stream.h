// Memory zeroed block after block, as a nursery is consumed.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>

#include "region.h"

namespace memgraft::zeroing::bench {

// Hands out one piece of a region after another and starts again at its end. Kept from one benchmark to the
// next, and shared by its threads: whoever started afresh would find in the cache what another had just
// zeroed there.
class Stream {
 public:
  explicit Stream(std::size_t bytes) : region_(bytes) {}

  std::byte* take(std::size_t bytes);

 private:
  Region region_;
  std::mutex turn_;
  std::size_t used_ = 0;
};

// The blocks that one thread zeroes. It takes large pieces of the stream, as a thread takes TLABs of a
// nursery, so that it seldom waits for another thread's turn.
class Walk {
 public:
  // With `late`, blocks are handed out a second time by late(). All sizes are powers of two.
  Walk(Stream& stream, std::size_t block, bool late);

  // The next block to zero.
  std::byte* next();
  // The first block that next() handed out and late() did not.
  std::byte* late();

  // What a walk takes of the stream at a time.
  static std::size_t piece_for(std::size_t block);

 private:
  Stream& stream_;
  std::size_t block_;
  std::size_t piece_;
  bool late_;
  std::deque<std::byte*> pieces_;
  std::size_t at_;
  std::size_t late_at_ = 0;
};

}  // namespace memgraft::zeroing::bench
