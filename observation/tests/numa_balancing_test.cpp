#include "memgraft/observation/numa_balancing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "fake_root.h"

namespace memgraft::observation {
namespace {

using Turned = std::variant<std::unique_ptr<NumaBalancing>, Refusal>;
constexpr const char* kSetting = "/proc/sys/kernel/numa_balancing";

std::string setting(const std::string& root) {
  std::ifstream file(root + kSetting);
  std::string line;
  std::getline(file, line);
  return line;
}

void expect_soon(const std::string& root, const std::string& value) {
  for (int tries = 0; tries < 3000 && setting(root) != value; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(setting(root), value);
}

// A process that turns it on and then gets that signal; `group`: as Ctrl-C sends it, to the whole group.
void turn_on_and_die(const std::string& root, int signal, bool group) {
  std::array<int, 2> turned_on{};
  ASSERT_EQ(pipe2(turned_on.data(), O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    const Turned turned = NumaBalancing::turn_on(root);
    const char good = std::holds_alternative<Refusal>(turned) ? 0 : 1;
    if (write(turned_on[1], &good, 1) != 1) {
      _exit(1);
    }
    while (true) {
      pause();
    }
  }
  char good = 0;
  ASSERT_EQ(read(turned_on[0], &good, 1), 1);
  ASSERT_EQ(good, 1);
  EXPECT_EQ(setting(root), "1");
  kill(group ? -child : child, signal);
  waitpid(child, nullptr, 0);
  close(turned_on[0]);
  close(turned_on[1]);
}

class NumaBalancingOf : public testing::Test {
 protected:
  void is(const std::string& value) const { root_.write(kSetting, value + "\n"); }
  [[nodiscard]] Turned turn_on() const { return NumaBalancing::turn_on(root_.path()); }

  linux_os::FakeRoot root_;
};

TEST_F(NumaBalancingOf, ItIsOnForAsLongAsTheObjectLives) {
  is("0");
  {
    const Turned turned = turn_on();
    ASSERT_TRUE(std::holds_alternative<std::unique_ptr<NumaBalancing>>(turned));
    EXPECT_TRUE(std::get<0>(turned)->changed());
    EXPECT_EQ(setting(root_.path()), "1");
    EXPECT_FALSE(why_no_hint_faults(root_.path()));
  }
  EXPECT_EQ(setting(root_.path()), "0");
  EXPECT_EQ(
      why_no_hint_faults(root_.path()),
      "kernel.numa_balancing is 0, expected 1, as only first touches would be seen: `--numa-balancing`, or "
      "`sysctl kernel.numa_balancing=1`");
}

TEST_F(NumaBalancingOf, OnBeforeIsOnAfter) {
  for (const char* const value : {"1", "3"}) {
    is(value);
    {
      const Turned turned = turn_on();
      ASSERT_TRUE(std::holds_alternative<std::unique_ptr<NumaBalancing>>(turned));
      EXPECT_FALSE(std::get<0>(turned)->changed());
    }
    EXPECT_EQ(setting(root_.path()), value);
  }
}

TEST_F(NumaBalancingOf, ThatOfMemoryTiersStays) {
  is("2");
  EXPECT_TRUE(why_no_hint_faults(root_.path()));
  {
    const Turned turned = turn_on();
    EXPECT_EQ(setting(root_.path()), "3");
  }
  EXPECT_EQ(setting(root_.path()), "2");
}

TEST_F(NumaBalancingOf, TheLastOfSeveralTurnsItOff) {
  for (const bool first_ends_first : {true, false}) {
    is("0");
    std::array<Turned, 2> both{turn_on(), turn_on()};
    EXPECT_TRUE(std::get<0>(both[1])->changed()) << "it will not be on for ever";
    both.at(first_ends_first ? 0 : 1) = Refusal{};
    EXPECT_EQ(setting(root_.path()), "1");
    both.at(first_ends_first ? 1 : 0) = Refusal{};
    EXPECT_EQ(setting(root_.path()), "0");
  }
}

TEST_F(NumaBalancingOf, ManyThatEndAtOnceTurnItOff) {
  for (int round = 0; round < 5; ++round) {
    is("0");
    std::vector<Turned> all;
    for (int i = 0; i < 8; ++i) {
      all.push_back(turn_on());
    }
    std::vector<std::jthread> ending;
    for (Turned& one : all) {
      ending.emplace_back([&one] { one = Refusal{}; });
    }
    ending.clear();
    ASSERT_EQ(setting(root_.path()), "0");
  }
}

TEST_F(NumaBalancingOf, WhatSomebodyElseSetMeanwhileStays) {
  is("0");
  {
    const Turned turned = turn_on();
    is("3");
  }
  EXPECT_EQ(setting(root_.path()), "3");
}

TEST_F(NumaBalancingOf, AKernelWithoutIt) {
  const Turned turned = turn_on();
  ASSERT_TRUE(std::holds_alternative<Refusal>(turned));
  EXPECT_EQ(std::get<Refusal>(turned).why,
            "this kernel has no NUMA balancing: /proc/sys/kernel/numa_balancing is not there "
            "(CONFIG_NUMA_BALANCING)");
}

TEST_F(NumaBalancingOf, NotPermitted) {
  is("0");
  std::filesystem::permissions(root_.path() + kSetting, std::filesystem::perms::owner_read |
                                                            std::filesystem::perms::group_read |
                                                            std::filesystem::perms::others_read);
  constexpr uid_t kNobody = 65534;
  const uid_t user = geteuid();
  if (user == 0 && seteuid(kNobody) != 0) {
    GTEST_SKIP() << "root may write to every file, and cannot be somebody else here";
  }
  const Turned turned = turn_on();
  ASSERT_EQ(seteuid(user), 0);
  ASSERT_TRUE(std::holds_alternative<Refusal>(turned));
  EXPECT_EQ(std::get<Refusal>(turned).why,
            "kernel.numa_balancing cannot be turned on: Permission denied: needs root: `sysctl "
            "kernel.numa_balancing=1`");
}

TEST_F(NumaBalancingOf, RestoredWhenItsProcessIsKilled) {
  is("0");
  turn_on_and_die(root_.path(), SIGKILL, false);
  expect_soon(root_.path(), "0");
}

TEST_F(NumaBalancingOf, RestoredWhenItsWholeGroupIsKilled) {
  for (const int signal : {SIGINT, SIGHUP, SIGTERM, SIGKILL}) {
    is("0");
    turn_on_and_die(root_.path(), signal, true);
    expect_soon(root_.path(), "0");
  }
}

TEST(NumaBalancing, OfThisMachineIsRestoredWhenItsProcessIsKilled) {
  if (setting("") != "0" || access(kSetting, W_OK) != 0) {
    GTEST_SKIP() << kSetting << " is '" << setting("") << "' or cannot be written: nothing to turn on here";
  }
  turn_on_and_die("", SIGKILL, false);
  expect_soon("", "0");
}

}  // namespace
}  // namespace memgraft::observation
