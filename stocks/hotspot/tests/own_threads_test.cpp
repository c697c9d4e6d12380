#include "clocks/own_threads.h"

#include <gtest/gtest.h>

namespace memgraft::hotspot {
namespace {

std::string_view owner(std::string_view name) {
  return name_of(static_cast<ThreadOwner>(own_thread_kind(name)));
}

// The names of real JVMs are tested on real JVMs: tests/test_own_threads.py.
TEST(OwnThreads, AreKnownByWhatTheKernelLeavesOfTheirNames) {
  EXPECT_EQ(owner("C1 CompilerThre"), "compiler");
  EXPECT_EQ(owner("C2 CompilerThre"), "compiler");
  EXPECT_EQ(owner("GC Thread#0"), "collector");
  EXPECT_EQ(owner("GC Thread#127"), "collector");
  EXPECT_EQ(owner("G1 Conc#3"), "collector");
  EXPECT_EQ(owner("VM Thread"), "vm");
  EXPECT_EQ(owner("memgraft-zeroer"), "memgraft");
}

TEST(OwnThreads, OfTheProgramAreEveryOther) {
  for (const char* const name :
       {"java", "main", "Finalizer", "Reference Handl", "Common-Cleaner", "GC Thread#", "GC Thread#x",
        "GC Thread#1x", "G1 Garage", "VM Threads", "VM", "C2", "", "memgraft"}) {
    EXPECT_EQ(owner(name), "program") << name;
  }
}

TEST(OwnThreads, FitTheTableOfThreadTimes) {
  EXPECT_LT(static_cast<std::size_t>(ThreadOwner::memgraft), linux_os::kThreadKinds);
  EXPECT_EQ(static_cast<linux_os::ThreadKind>(ThreadOwner::program), linux_os::kProgramThread);
}

}  // namespace
}  // namespace memgraft::hotspot
