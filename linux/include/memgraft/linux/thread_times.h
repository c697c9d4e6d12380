// Whose the CPU time of this process was: the program's, or its runtime's.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "memgraft/linux/thread_ledger.h"
#include "memgraft/units.h"

namespace memgraft::linux_os {

// The kind of a thread of that name, which Linux cuts off after 15 bytes. Below kThreadKinds.
using ClassifyThread = ThreadKind (*)(std::string_view name) noexcept;

struct ThreadTimes {
  // CPU time of the process since its start, of all threads that it ever had (CLOCK_PROCESS_CPUTIME_ID).
  Nanoseconds process;
  // Of it, per kind; [kProgramThread] is what no other kind has run.
  std::array<Nanoseconds, kThreadKinds> time{};
  // Threads alive now, per kind.
  std::array<unsigned, kThreadKinds> alive{};
};

// The more often it reads, the less time of ended threads it misses (thread_ledger.h).
//
// A reading costs a system call per thread for its clock, three (open, read, close) for each sixteenth
// thread's name and for every new one's, and a few for the list of threads: README.md has it in microseconds.
// It uses no heap until a process has more threads than ThreadLedger::kReserved, needs no privilege, and may
// run inside a pause of a JVM.
//
// Times come from each thread's CPU clock and not from /proc/self/task/*/schedstat, because that is one
// system call instead of three, and because the clock counts the slice that a thread is running just now, as
// the clock of the process does; schedstat knows of it only after the next tick, and the difference would be
// the program's.
class ThreadWatch {
 public:
  explicit ThreadWatch(ClassifyThread classify) : classify_(classify) {}

  // One thread at a time. nullopt where Linux does not tell: no /proc, or a sandbox without its clocks.
  std::optional<ThreadTimes> read() noexcept;

 private:
  bool list_threads(int task_folder);
  void look_at(int task_folder, std::string_view tid);

  ClassifyThread classify_;
  ThreadLedger ledger_;
};

}  // namespace memgraft::linux_os
