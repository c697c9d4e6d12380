// Hangs, in one thread and in a process that it started.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<bool> over = false;

void spins_for_ever() {
  while (!over.load()) {
  }
}

void child_waits_for_ever() {
  while (!over.load()) {
    pause();
  }
}

TEST(Hanging, ForEver) {
  if (fork() == 0) {
    child_waits_for_ever();
  }
  spins_for_ever();
  wait(nullptr);
}

}  // namespace
