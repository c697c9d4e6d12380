#include "memgraft/linux/threads_of.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "fake_root.h"

namespace memgraft::linux_os {
namespace {

TEST(ThreadsOf, InAscendingOrder) {
  const FakeRoot root;
  for (const char* const thread : {"12", "9", "100", "none"}) {
    root.write(std::string("/proc/9/task/") + thread + "/comm", "cg\n");
  }
  EXPECT_EQ(threads_of(9, root.path()), (std::vector<pid_t>{9, 12, 100}));
  EXPECT_TRUE(threads_of(10, root.path()).empty());
}

TEST(ThreadsOf, ThisProcess) {
  EXPECT_EQ(threads_of(getpid()).front(), getpid());
  std::latch begun(1);
  std::latch looked(1);
  pid_t second = 0;
  std::thread thread([&] {
    second = gettid();
    begun.count_down();
    looked.wait();
  });
  begun.wait();
  const std::vector<pid_t> threads = threads_of(getpid());  // and a sanitizer's own, maybe
  EXPECT_TRUE(std::ranges::binary_search(threads, second));
  looked.count_down();
  thread.join();
}

}  // namespace
}  // namespace memgraft::linux_os
