#include "memgraft/linux/thread_ledger.h"

namespace memgraft::linux_os {

namespace {

// A new thread gets its name within microseconds of its start: hardly three readings fall into them.
constexpr std::uint32_t kYoung = 3;
constexpr std::uint32_t kReadingsPerName = 16;

}  // namespace

void ThreadLedger::begin() {
  ++reading_;
  expected_ = 0;
}

std::size_t ThreadLedger::find(pid_t tid) const {
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    const std::size_t wrapped = expected_ + i;
    const std::size_t place = wrapped < threads_.size() ? wrapped : wrapped - threads_.size();
    if (threads_[place].tid == tid) {
      return place;
    }
  }
  return threads_.size();
}

bool ThreadLedger::saw(pid_t tid, Nanoseconds cpu) {
  current_ = find(tid);
  if (current_ == threads_.size()) {
    threads_.emplace_back().tid = tid;
  }
  Thread& thread = threads_[current_];
  if (cpu < thread.cpu) {
    // Clocks only go forward: this is another thread, which was given the number of one that has ended.
    ended_[thread.kind] = ended_[thread.kind] + thread.cpu;
    thread = Thread();
    thread.tid = tid;
  }
  thread.cpu = cpu;
  thread.reading = reading_;
  expected_ = current_ + 1 == threads_.size() ? 0 : current_ + 1;
  // Not all in the same reading: each has its turn by its number.
  const bool turn = (static_cast<std::uint32_t>(tid) + thread.age) % kReadingsPerName == 0;
  return thread.age++ < kYoung || turn;
}

void ThreadLedger::book_ended() {
  std::erase_if(threads_, [this](const Thread& thread) {
    const bool ended = thread.reading != reading_;
    if (ended) {
      ended_[thread.kind] = ended_[thread.kind] + thread.cpu;
    }
    return ended;
  });
}

Nanoseconds ThreadLedger::time(ThreadKind kind) const {
  Nanoseconds sum = ended_[kind];
  for (const Thread& thread : threads_) {
    sum = thread.kind == kind ? sum + thread.cpu : sum;
  }
  return sum;
}

unsigned ThreadLedger::alive(ThreadKind kind) const {
  unsigned count = 0;
  for (const Thread& thread : threads_) {
    count += thread.kind == kind ? 1 : 0;
  }
  return count;
}

}  // namespace memgraft::linux_os
