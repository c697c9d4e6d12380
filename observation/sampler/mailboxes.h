// Where touches wait for their reader, in another process: records that many threads put in, from a signal's
// handler, and one takes out. Nobody waits for anybody. A thread that is killed while it writes keeps its one
// box; there is no order of boxes that it could hold up. Who finds the boxes full counts his touch as lost.
//
// A template, so that the model checker in tests/ runs the very code that ships; `Policy` names the atomics
// and says how many boxes there are.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memgraft::observation {

using Word = std::uint64_t;

struct Record {
  Word address = 0;
  Word nanoseconds = 0;
  Word who = 0;  // see touched_by()
};

template <class Policy>
class Mailbox {
 public:
  // False where it is in use.
  bool put(const Record& record) {
    Word found = kEmpty;
    // Acquire: not before the reader has read what was in it.
    if (!state_.compare_exchange_strong(found, kWriting, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
      return false;
    }
    address_.store(record.address, std::memory_order_relaxed);
    nanoseconds_.store(record.nanoseconds, std::memory_order_relaxed);
    who_.store(record.who, std::memory_order_relaxed);
    state_.store(kFull, std::memory_order_release);  // what is in it, to the reader
    return true;
  }

  // False where there is nothing; a state that nobody writes is nothing, too.
  bool take(Record& record) {
    if (state_.load(std::memory_order_acquire) != kFull) {
      return false;
    }
    record.address = address_.load(std::memory_order_relaxed);
    record.nanoseconds = nanoseconds_.load(std::memory_order_relaxed);
    record.who = who_.load(std::memory_order_relaxed);
    state_.store(kEmpty, std::memory_order_release);  // it has been read
    return true;
  }

 private:
  static constexpr Word kEmpty = 0;
  static constexpr Word kWriting = 1;
  static constexpr Word kFull = 2;

  typename Policy::Atomic state_{kEmpty};
  typename Policy::Atomic address_{0};
  typename Policy::Atomic nanoseconds_{0};
  typename Policy::Atomic who_{0};
};

template <class Policy>
class Mailboxes {
 public:
  void put(const Record& record) {
    for (unsigned probe = 0; probe < Policy::kProbes; ++probe) {
      const Word next = next_.fetch_add(1, std::memory_order_relaxed);
      if (boxes_[next % Policy::kBoxes].put(record)) {
        return;
      }
    }
    lost_.fetch_add(1, std::memory_order_relaxed);
  }

  // One thread at a time: everything that is finished, in no order.
  template <typename Sink>
  void take_all(Sink sink) {
    Record record;
    for (auto& box : boxes_) {
      if (box.take(record)) {
        sink(record);
      }
    }
  }

  [[nodiscard]] Word lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  typename Policy::Atomic next_{0};
  typename Policy::Atomic lost_{0};
  Mailbox<Policy> boxes_[Policy::kBoxes];
};

}  // namespace memgraft::observation
