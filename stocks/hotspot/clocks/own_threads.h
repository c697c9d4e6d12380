// Which threads HotSpot keeps for itself, and for what.
#pragma once

#include <string_view>

#include "memgraft/linux/thread_times.h"

namespace memgraft::hotspot {

// In the order of a linux_os::ThreadTimes of this table. Whoever runs Java code of the program's is the
// program's: its own threads, those that JNI attached, and also "Finalizer", "Reference Handler" and
// "Common-Cleaner".
enum class ThreadOwner : linux_os::ThreadKind {
  program = linux_os::kProgramThread,
  compiler,   // C1 and C2; they come and go with their work
  collector,  // the collectors' workers; Serial has none and collects on the VM thread
  vm,         // the VM thread, and those that serve it: signals, logs, monitors, code, recordings
  memgraft,   // what the agent starts
};

// The first bytes of the names of the agent's own threads.
inline constexpr std::string_view kMemgraftThreadPrefix = "memgraft-";

// By the name that the thread has in the kernel: the first 15 bytes of what HotSpot calls it. For
// ThreadWatch. A thread of the program's that takes one of HotSpot's names is taken for one of HotSpot's.
linux_os::ThreadKind own_thread_kind(std::string_view name) noexcept;

std::string_view name_of(ThreadOwner owner) noexcept;

}  // namespace memgraft::hotspot
