#include "memgraft/linux/idle_cpus.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <string>

#include "../proc_stat.h"
#include "../small_file.h"
#include "fake_root.h"

namespace memgraft::linux_os {
namespace {

constexpr const char* kThreeCpus =
    "cpu  600 0 0 330 33 0 0 0 0 0\n"
    "cpu0 200 0 0 100 10 0 0 0 0 0\n"
    "cpu1 200 0 0 110 11 0 0 0 0 0\n"
    "cpu10 200 0 0 120 12 0 0 0 0 0\n"
    "intr 5 4 3\n";

Affinity only(std::initializer_list<unsigned> cpus) {
  Affinity affinity;
  for (const unsigned cpu : cpus) {
    CPU_SET_S(cpu, sizeof affinity.set, affinity.set.data());
  }
  return affinity;
}

double ticks(double count) { return count / static_cast<double>(sysconf(_SC_CLK_TCK)); }

TEST(IdleSeconds, AreOfTheWantedCpusAlone) {
  EXPECT_EQ(idle_seconds(kThreeCpus, only({0})), ticks(110));
  EXPECT_EQ(idle_seconds(kThreeCpus, only({1, 10})), ticks(253));
  EXPECT_EQ(idle_seconds(kThreeCpus, only({0, 1, 10})), ticks(363));
}

TEST(IdleSeconds, AreUnknownWhereACpuIsMissing) {
  EXPECT_EQ(idle_seconds(kThreeCpus, only({0, 2})), std::nullopt);
  EXPECT_EQ(idle_seconds(kThreeCpus, only({})), std::nullopt);
  EXPECT_EQ(idle_seconds("", only({0})), std::nullopt);
  EXPECT_EQ(idle_seconds("intr 5\ncpu0 1 1 1 1 1\n", only({0})), std::nullopt);
}

TEST(IdleSeconds, AreUnknownWhereTheTextMakesNoSense) {
  EXPECT_EQ(idle_seconds("cpu0 1 2\n", only({0})), std::nullopt);
  EXPECT_EQ(idle_seconds("cpu0 1 2 3 x 5\n", only({0})), std::nullopt);
  EXPECT_EQ(idle_seconds("cpu0 1 2 3 4\n", only({0})), std::nullopt);
  EXPECT_EQ(idle_seconds("cpu0", only({0})), std::nullopt);
}

// All CPUs of this process have been idle for so many ticks each.
class MeanIdle : public testing::Test {
 protected:
  void idle(std::uint64_t of_each) {
    std::string text = "cpu  1 1 1 1 1\n";
    for (unsigned cpu = 0; cpu < 1024; ++cpu) {
      text += "cpu" + std::to_string(cpu) + " 7 7 7 " + std::to_string(of_each) + " 0 0 0 0 0 0\n";
    }
    root_.write("/proc/stat", text);
  }
  static Nanoseconds at(double seconds) {
    constexpr double kNanoseconds = 1e9;
    return Nanoseconds(static_cast<std::uint64_t>(seconds * kNanoseconds));
  }
  static double cpus() { return static_cast<double>(affinity_of_process()->count()); }

  FakeRoot root_;
  IdleCpus cpus_{root_.path()};
  std::uint64_t second_ = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
};

TEST_F(MeanIdle, IsNoneBeforeTheFirstStretchIsOver) {
  idle(500);
  EXPECT_EQ(cpus_.now(at(100)), 0.0);
  EXPECT_EQ(cpus_.now(at(100.2)), 0.0);
}

TEST_F(MeanIdle, IsOfTheLastWholeStretch) {
  idle(500);
  (void)cpus_.now(at(100));
  idle(500 + second_);
  EXPECT_DOUBLE_EQ(*cpus_.now(at(102)), cpus() / 2);
  idle(500 + (3 * second_));
  EXPECT_DOUBLE_EQ(*cpus_.now(at(102.1)), cpus() / 2) << "read again too early";
  EXPECT_DOUBLE_EQ(*cpus_.now(at(106)), cpus() / 2);
  EXPECT_EQ(cpus_.now(at(108)), 0.0);
}

TEST_F(MeanIdle, IsNeverNegative) {
  idle(500);
  (void)cpus_.now(at(100));
  idle(400);
  EXPECT_EQ(cpus_.now(at(101)), 0.0);
}

TEST_F(MeanIdle, IsUnknownWithoutTheFile) {
  EXPECT_EQ(cpus_.now(at(100)), std::nullopt);
  EXPECT_EQ(cpus_.now(at(101)), std::nullopt);
}

TEST_F(MeanIdle, IsNoneWhereTheReadingsAreOfOtherCpus) {
  idle(500);
  (void)cpus_.now(at(100));
  idle(500 + (50 * second_));
  EXPECT_EQ(cpus_.now(at(101)), 0.0);
  idle(500 + (51 * second_));
  EXPECT_DOUBLE_EQ(*cpus_.now(at(102)), cpus());
}

TEST_F(MeanIdle, BeginsAnewWhereTheFileComesBack) {
  EXPECT_EQ(cpus_.now(at(100)), std::nullopt);
  idle(500);
  EXPECT_EQ(cpus_.now(at(100.1)), 0.0);
  idle(500 + second_);
  EXPECT_DOUBLE_EQ(*cpus_.now(at(101.1)), cpus());
}

TEST(IdleSeconds, OfThisSystemAreBetweenNoneAndAllItsTime) {
  std::string text;
  ASSERT_TRUE(read_file("/proc/stat", text));
  const Affinity affinity = *affinity_of_process();
  const std::optional<double> idle = idle_seconds(text, affinity);
  if (!idle) {
    GTEST_SKIP() << "this system's /proc/stat does not have each CPU";
  }
  timespec up{};
  ASSERT_EQ(clock_gettime(CLOCK_BOOTTIME, &up), 0);
  EXPECT_GT(*idle, 0);
  EXPECT_LE(*idle, static_cast<double>(up.tv_sec + 1) * affinity.count());
}

}  // namespace
}  // namespace memgraft::linux_os
