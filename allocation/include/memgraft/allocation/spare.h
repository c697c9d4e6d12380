// A place for one piece of memory that somebody may have use for later: put in by one thread, taken out by
// another. Lock-free: who finds it in use goes on as if it was not there.
//
// A template, so that the model checker in tests/ runs the very code that ships; `Policy` names the atomics,
// as in buffer.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "memgraft/allocation/buffer.h"

namespace memgraft::allocation {

template <class Policy>
class Spare {
 public:
  // False where there is one already.
  bool put(Rest piece) {
    // Acquire: not before whoever emptied it has read it.
    if (!become_busy(kEmpty)) {
      return false;
    }
    start_.store(piece.start, std::memory_order_relaxed);
    words_.store(piece.words.count(), std::memory_order_relaxed);
    state_.store(kFull, std::memory_order_release);  // what it is, to whoever takes it
    return true;
  }

  // Null where there is none of that size.
  std::byte* take(Words words) {
    if (!become_busy(kFull)) {
      return nullptr;
    }
    std::byte* const start = start_.load(std::memory_order_relaxed);
    const bool fits = Words(words_.load(std::memory_order_relaxed)) == words;
    // Release: it has been read.
    state_.store(fits ? kEmpty : kFull, std::memory_order_release);
    return fits ? start : nullptr;
  }

  // With nobody in the midst of the above: what is there.
  Rest close() {
    if (!become_busy(kFull)) {
      return {};
    }
    const Rest piece{.start = start_.load(std::memory_order_relaxed),
                     .words = Words(words_.load(std::memory_order_relaxed))};
    state_.store(kEmpty, std::memory_order_release);
    return piece;
  }

 private:
  static constexpr State kEmpty = 0;
  static constexpr State kBusy = 1;  // somebody changes it
  static constexpr State kFull = 2;

  bool become_busy(State from) {
    return state_.compare_exchange_strong(from, kBusy, std::memory_order_acquire, std::memory_order_relaxed);
  }

  typename Policy::Word state_{kEmpty};
  typename Policy::Pointer start_{nullptr};
  typename Policy::Size words_{0};
};

}  // namespace memgraft::allocation
