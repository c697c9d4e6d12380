#include "machine.h"

#include <sched.h>

#include <algorithm>
#include <ctime>

#include "restartable.h"

namespace memgraft::zeroing::ahead {
namespace {

// Without restartable sequences a piece is what others may have to wait for: some microseconds. Not smaller,
// since each ends with the kernel's fence.
constexpr std::size_t kUnrestartablePieceBytes = std::size_t{16} << 10;

// How often a waiting thread merely yields: a helper that runs needs no longer for its piece. One that does
// not run may need until its cgroup's next period.
constexpr unsigned kYields = 16;
constexpr timespec kNap{.tv_sec = 0, .tv_nsec = 50'000};  // the kernel's own slack (PR_SET_TIMERSLACK)

std::uintptr_t number(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at); }

}  // namespace

std::size_t Region::index_of(const std::byte* at) const {
  return (number(at) >> block_shift) - (number(begin) >> block_shift);
}

std::size_t Region::block_count() const { return begin == end ? 0 : index_of(end - 1) + 1; }

std::byte* Region::block_begin(std::size_t index) const {
  const std::size_t into_first = number(begin) & ((std::uintptr_t{1} << block_shift) - 1);
  return index == 0 ? begin : begin + ((index << block_shift) - into_first);
}

std::byte* Region::block_end(std::size_t index) const {
  return index + 1 < block_count() ? block_begin(index + 1) : end;
}

bool Machine::begin() {
  if (stealing_) {
    sequence_ = own_sequence();
  }
  return !stealing_ || sequence_ != nullptr;
}

std::size_t Machine::piece_bytes() const {
  return stealing_ ? kRestartablePieceBytes : kUnrestartablePieceBytes;
}

std::size_t Machine::pieces(std::size_t index) const {
  const auto bytes = static_cast<std::size_t>(region_.block_end(index) - region_.block_begin(index));
  return (bytes + piece_bytes() - 1) / piece_bytes();
}

bool Machine::zero_piece(const Word& work, Value working, const Word& block, Value mine, std::size_t index,
                         std::size_t piece) {
  std::byte* const at = region_.block_begin(index) + piece * piece_bytes();
  const std::size_t bytes = std::min(piece_bytes(), static_cast<std::size_t>(region_.block_end(index) - at));
  if (stealing_) {
    return zero_restartably(sequence_, {.word = work, .value = working}, {.word = block, .value = mine}, at,
                            bytes);
  }
  // relaxed, both: who takes the block away waits for the answer, which comes after the stores either way
  if (work.load(std::memory_order_relaxed) != working || block.load(std::memory_order_relaxed) != mine) {
    return false;
  }
  zero_(at, bytes);
  return true;
}

void Machine::drain() const {
  if (stealing_) {
    finish_restartable();
  }
}

bool Machine::expel() const { return stealing_ && leave_restartable_sequences(); }

void Machine::wait(unsigned turn) {
  if (turn < kYields) {
    sched_yield();
  } else {
    nanosleep(&kNap, nullptr);
  }
}

}  // namespace memgraft::zeroing::ahead
