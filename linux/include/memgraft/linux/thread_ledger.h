// What each kind of thread has run so far, the threads that have ended included.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "memgraft/units.h"

namespace memgraft::linux_os {

// Who a thread works for: a number of the caller's own, below kThreadKinds. 0 is the program, whose time is
// not added up but is what remains of the process's.
using ThreadKind = std::uint8_t;
inline constexpr ThreadKind kProgramThread = 0;
inline constexpr std::size_t kThreadKinds = 8;

// The bookkeeping behind ThreadWatch, without a system call. One reading is
//
//   begin();
//   for each thread: if (saw(tid, cpu)) named(kind of its name);
//   end(clock);
//
// A thread that has ended is known no more to Linux, but the process's clock goes on holding its time:
// HotSpot ends idle compiler threads after some 0.5 s. If that time left the sum, the program would seem to
// have worked it off in one moment. So the time last seen of every thread is kept when it ends. What such a
// thread ran between its last reading and its end is booked to the program, and so is a thread that began and
// ended between two readings.
class ThreadLedger {
 public:
  // As many threads as are followed before the ledger has to allocate.
  static constexpr std::size_t kReserved = 256;

  ThreadLedger() { threads_.reserve(kReserved); }

  void begin();

  // A thread is there, and has run for `cpu`. True when its name has to be read (which costs more than all
  // the rest): while it is young, because a thread starts under its parent's name, and then every 16th time.
  bool saw(pid_t tid, Nanoseconds cpu);
  // Of the thread that saw() was called for last.
  void named(ThreadKind kind) { threads_[current_].kind = kind; }

  // Books those that have ended. `clock(tid)` is asked for the threads that saw() was not told of, and is
  // nullopt when they are gone: a listing made while threads come and go may leave out one that lives.
  template <typename Clock>
  void end(Clock clock) {
    for (Thread& thread : threads_) {
      if (thread.reading == reading_) {
        continue;
      }
      if (const auto cpu = clock(thread.tid); cpu && *cpu >= thread.cpu) {
        thread.cpu = *cpu;
        thread.reading = reading_;
      }
    }
    book_ended();
  }

  // CPU time of all threads of that kind, the ended ones included. Not for kProgramThread.
  [[nodiscard]] Nanoseconds time(ThreadKind kind) const;
  [[nodiscard]] unsigned alive(ThreadKind kind) const;

 private:
  struct Thread {
    pid_t tid = 0;
    ThreadKind kind = kProgramThread;
    std::uint32_t age = 0;      // readings so far
    std::uint32_t reading = 0;  // the one that saw it last
    Nanoseconds cpu;
  };

  // Its place in threads_, or the end. Looks first where it should be: threads are listed in the same order.
  [[nodiscard]] std::size_t find(pid_t tid) const;
  void book_ended();

  std::vector<Thread> threads_;
  std::array<Nanoseconds, kThreadKinds> ended_{};
  std::uint32_t reading_ = 0;
  std::size_t current_ = 0;
  std::size_t expected_ = 0;
};

}  // namespace memgraft::linux_os
