#include "clocks/own_threads.h"

#include <array>

namespace memgraft::hotspot {

namespace {

struct OwnThread {
  std::string_view name;  // as the kernel cuts it off
  ThreadOwner owner;
  bool numbered = false;  // what follows is a number
};

// As they are called in JDK 17, 21 and 25 (each NonJavaThread's and JavaThread's constructor in
// src/hotspot/share); tests/test_own_threads.py compares with what those JVMs say they run.
constexpr auto kOwnThreads = std::to_array<OwnThread>({
    {.name = "C1 CompilerThre", .owner = ThreadOwner::compiler},
    {.name = "C2 CompilerThre", .owner = ThreadOwner::compiler},
    {.name = "GC Thread#", .owner = ThreadOwner::collector, .numbered = true},
    {.name = "G1 Conc#", .owner = ThreadOwner::collector, .numbered = true},
    {.name = "G1 Main Marker", .owner = ThreadOwner::collector},
    {.name = "G1 Refine#", .owner = ThreadOwner::collector, .numbered = true},
    {.name = "G1 Service", .owner = ThreadOwner::collector},
    {.name = "StringDedupProc", .owner = ThreadOwner::collector},  // 17
    {.name = "StringDedupThre", .owner = ThreadOwner::collector},  // 21 and 25
    {.name = "VM Thread", .owner = ThreadOwner::vm},
    {.name = "VM Periodic Tas", .owner = ThreadOwner::vm},
    {.name = "Attach Listener", .owner = ThreadOwner::vm},
    {.name = "Signal Dispatch", .owner = ThreadOwner::vm},
    {.name = "Service Thread", .owner = ThreadOwner::vm},
    {.name = "Monitor Deflati", .owner = ThreadOwner::vm},
    {.name = "Notification Th", .owner = ThreadOwner::vm},
    {.name = "Sweeper thread", .owner = ThreadOwner::vm},   // 17: sweeps the code cache
    {.name = "AsyncLog Thread", .owner = ThreadOwner::vm},  // with -Xlog:async
    {.name = "JFR Recorder Th", .owner = ThreadOwner::vm},
    {.name = "JFR Periodic Ta", .owner = ThreadOwner::vm},
    {.name = "JFR Thread Samp", .owner = ThreadOwner::vm},  // 17 and 21
    {.name = "JFR Sampler Thr", .owner = ThreadOwner::vm},  // 25
});

bool is(const OwnThread& thread, std::string_view name) noexcept {
  if (!thread.numbered) {
    return name == thread.name;
  }
  return name.starts_with(thread.name) && name.size() > thread.name.size() &&
         name.find_first_not_of("0123456789", thread.name.size()) == std::string_view::npos;
}

}  // namespace

linux_os::ThreadKind own_thread_kind(std::string_view name) noexcept {
  ThreadOwner owner = ThreadOwner::program;
  if (name.starts_with(kMemgraftThreadPrefix)) {
    owner = ThreadOwner::memgraft;
  }
  for (const OwnThread& thread : kOwnThreads) {
    owner = is(thread, name) ? thread.owner : owner;
  }
  return static_cast<linux_os::ThreadKind>(owner);
}

std::string_view name_of(ThreadOwner owner) noexcept {
  switch (owner) {
    case ThreadOwner::compiler:
      return "compiler";
    case ThreadOwner::collector:
      return "collector";
    case ThreadOwner::vm:
      return "vm";
    case ThreadOwner::memgraft:
      return "memgraft";
    case ThreadOwner::program:
      break;
  }
  return "program";
}

}  // namespace memgraft::hotspot
