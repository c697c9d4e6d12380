#include "stream.h"

#include <algorithm>
#include <span>

namespace memgraft::zeroing::bench {

std::byte* Stream::take(std::size_t bytes) {
  const std::scoped_lock lock(turn_);
  const std::span<std::byte> all = region_.memory();
  if (bytes > all.size() - used_) {
    used_ = 0;
  }
  std::byte* piece = all.data() + used_;
  used_ += bytes;
  return piece;
}

Walk::Walk(Stream& stream, std::size_t block, bool late)
    : stream_(stream), block_(block), piece_(piece_for(block)), late_(late), at_(piece_) {}

std::byte* Walk::next() {
  if (at_ == piece_) {
    if (!late_) {
      pieces_.clear();
    }
    pieces_.push_back(stream_.take(piece_));
    at_ = 0;
  }
  std::byte* block = pieces_.back() + at_;
  at_ += block_;
  return block;
}

std::byte* Walk::late() {
  if (late_at_ == piece_) {
    pieces_.pop_front();
    late_at_ = 0;
  }
  std::byte* block = pieces_.front() + late_at_;
  late_at_ += block_;
  return block;
}

std::size_t Walk::piece_for(std::size_t block) {
  constexpr std::size_t kLeast = std::size_t{1} << 20;
  return std::max(block, kLeast);
}

}  // namespace memgraft::zeroing::bench
