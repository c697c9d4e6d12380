#include "started.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <string>

#include "fake_root.h"

namespace memgraft::placement {
namespace {

class Started : public testing::Test {
 protected:
  // With a name that could be taken for fields.
  void process(pid_t pid, const std::string& ticks, const std::string& children) const {
    const std::string folder = "/proc/" + std::to_string(pid);
    root_.write(folder + "/stat", std::to_string(pid) + " (a) R 9 (b) R 1 1 1 0 -1 4194304 1 2 3 4 " + ticks +
                                      " 20 0 1 0 100 0 0\n");
    root_.write(folder + "/task/" + std::to_string(pid) + "/children", children);
  }
  const double tick_ = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  linux_os::FakeRoot root_;
};

TEST_F(Started, ProcessesOfProcessesAndThoseThatEnded) {
  process(10, "1 2 30 40", "11 12 ");
  process(11, "100 200 300 400", "13 ");
  process(12, "1000 0 0 0", "");
  process(13, "5000 0 0 0", "14 ");  // 14 has just ended
  const CpuSeconds used = cpu_seconds(10, root_.path());
  EXPECT_DOUBLE_EQ(used.own, 3 * tick_);
  EXPECT_DOUBLE_EQ(used.started, (70 + 1000 + 1000 + 5000) * tick_);
}

TEST_F(Started, AProcessThatEnded) {
  const CpuSeconds used = cpu_seconds(10, root_.path());
  EXPECT_EQ(used.own, 0);
  EXPECT_EQ(used.started, 0);
}

TEST_F(Started, RealOnes) {
  const CpuSeconds before = cpu_seconds(getpid(), "");
  const pid_t child = fork();
  if (child == 0) {
    while (std::clock() < CLOCKS_PER_SEC / 5) {
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  const CpuSeconds after = cpu_seconds(getpid(), "");
  const CpuSeconds used = after - before;
  EXPECT_NEAR(used.started, 0.2, 0.1);
  EXPECT_LT(used.own, 0.1);
  EXPECT_EQ((before - after).started, 0);
}

TEST(WhyLittleIsSeen, OnlyWhereMostWasUsedByOthers) {
  EXPECT_EQ(why_little_is_seen({.own = 3, .started = 2}, "sh"), "");
  EXPECT_EQ(why_little_is_seen({.own = 0.01, .started = 0.2}, "sh"), "");
  EXPECT_EQ(
      why_little_is_seen({.own = 0.5, .started = 7}, "sh"),
      "7.0 of 7.5 s of CPU time were used by other processes that sh started, which are not watched: name "
      "the program itself, or attach to it with --pid");
}

}  // namespace
}  // namespace memgraft::placement
