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
    {.name = "C1 CompilerThre", .owner = ThreadOwner::kCompiler},
    {.name = "C2 CompilerThre", .owner = ThreadOwner::kCompiler},
    {.name = "GC Thread#", .owner = ThreadOwner::kCollector, .numbered = true},
    {.name = "G1 Conc#", .owner = ThreadOwner::kCollector, .numbered = true},
    {.name = "G1 Main Marker", .owner = ThreadOwner::kCollector},
    {.name = "G1 Refine#", .owner = ThreadOwner::kCollector, .numbered = true},
    {.name = "G1 Service", .owner = ThreadOwner::kCollector},
    {.name = "StringDedupProc", .owner = ThreadOwner::kCollector},  // 17
    {.name = "StringDedupThre", .owner = ThreadOwner::kCollector},  // 21 and 25
    {.name = "VM Thread", .owner = ThreadOwner::kVm},
    {.name = "VM Periodic Tas", .owner = ThreadOwner::kVm},
    {.name = "Attach Listener", .owner = ThreadOwner::kVm},
    {.name = "Signal Dispatch", .owner = ThreadOwner::kVm},
    {.name = "Service Thread", .owner = ThreadOwner::kVm},
    {.name = "Monitor Deflati", .owner = ThreadOwner::kVm},
    {.name = "Notification Th", .owner = ThreadOwner::kVm},
    {.name = "Sweeper thread", .owner = ThreadOwner::kVm},   // 17: sweeps the code cache
    {.name = "AsyncLog Thread", .owner = ThreadOwner::kVm},  // with -Xlog:async
    {.name = "JFR Recorder Th", .owner = ThreadOwner::kVm},
    {.name = "JFR Periodic Ta", .owner = ThreadOwner::kVm},
    {.name = "JFR Thread Samp", .owner = ThreadOwner::kVm},  // 17 and 21
    {.name = "JFR Sampler Thr", .owner = ThreadOwner::kVm},  // 25
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
  ThreadOwner owner = ThreadOwner::kProgram;
  if (name.starts_with(kMemgraftThreadPrefix)) {
    owner = ThreadOwner::kMemgraft;
  }
  for (const OwnThread& thread : kOwnThreads) {
    owner = is(thread, name) ? thread.owner : owner;
  }
  return static_cast<linux_os::ThreadKind>(owner);
}

std::string_view name_of(ThreadOwner owner) noexcept {
  switch (owner) {
    case ThreadOwner::kCompiler:
      return "compiler";
    case ThreadOwner::kCollector:
      return "collector";
    case ThreadOwner::kVm:
      return "vm";
    case ThreadOwner::kMemgraft:
      return "memgraft";
    case ThreadOwner::kProgram:
      break;
  }
  return "program";
}

}  // namespace memgraft::hotspot
