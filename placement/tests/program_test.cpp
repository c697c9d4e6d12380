// The program itself, on this machine: its exit codes and messages, and, as root, hint faults of a real
// program.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "fake_root.h"
#include "memgraft/built.h"
#include "memgraft/placement/topology.h"

namespace memgraft::placement {
namespace {

using Json = nlohmann::json;

constexpr const char* kSetting = "/proc/sys/kernel/numa_balancing";
constexpr int kSkipped = -1;

std::string content_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Ended {
  int exit_code = kSkipped;
  std::string errors;
  std::string output;
};

class Program : public testing::Test {
 protected:
  // `memgraft-place ARGUMENTS` by a shell; what it says, and its exit code.
  Ended run(const std::string& arguments) {
    const std::string out = folder_.path() + "/out";
    const std::string err = folder_.path() + "/err";
    const int status =
        std::system((built(MEMGRAFT_PLACE) + " " + arguments + " >" + out + " 2>" + err).c_str());
    return {.exit_code = WEXITSTATUS(status), .errors = content_of(err), .output = content_of(out)};
  }
  std::vector<Json> record() const {
    std::vector<Json> lines;
    std::ifstream in(record_file());
    for (std::string line; std::getline(in, line);) {
      lines.push_back(Json::parse(line));
    }
    return lines;
  }
  [[nodiscard]] std::string record_file() const { return folder_.path() + "/record"; }
  [[nodiscard]] static std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  static bool may_watch() { return geteuid() == 0 && !content_of(kSetting).empty(); }

  linux_os::FakeRoot folder_;
};

TEST_F(Program, SaysWhatItIsNotToldRight) {
  for (const std::string arguments : {"",
                                      "--",
                                      "--pid 1 -- true",
                                      "--monitor magic -- true",
                                      "--interval 0 -- true",
                                      "--observing-cpu 0 -- true",
                                      "--least-share 2 -- true",
                                      "--nonsense -- true",
                                      "--duration 3 -- true",
                                      "--interval nan -- true",
                                      "--least-share nan -- true",
                                      "--sampling-cpu nan -- true",
                                      "--sampling-least 65535 -- true",
                                      "--observing-cpu nan -- true",
                                      "--pid 1 --duration nan",
                                      "--pid 1 --duration inf",
                                      "--interval 1x -- true",
                                      "--pid 0",
                                      "--pid 1 --monitor faults-in-process",
                                      "--monitor replay: -- true",
                                      "--dry-run true"}) {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.exit_code, 2) << arguments;
    EXPECT_EQ(lines_of(ended.errors), 1U) << ended.errors;
    EXPECT_TRUE(ended.errors.starts_with("memgraft place: ")) << ended.errors;
  }
  EXPECT_EQ(run("--help").exit_code, 0);
}

TEST_F(Program, HasNothingToPlaceOnAMachineWithOneNode) {
  folder_.write("/sys/devices/system/node/online", "0\n");
  folder_.write("/sys/devices/system/node/node0/cpulist", "0\n");
  const Ended ended = run("--root " + folder_.path() + " -- touch " + folder_.path() + "/started");
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_EQ(
      ended.errors,
      "memgraft place: this machine has one NUMA node: there is nothing to place; `--dry-run` shows who "
      "touches which page\n");
  EXPECT_TRUE(content_of(folder_.path() + "/started").empty());
  EXPECT_NE(access((folder_.path() + "/started").c_str(), F_OK), 0) << "the command is not started";
}

TEST_F(Program, RefusesAMonitorThatCannotWorkBeforeTheCommandRuns) {
  folder_.write("/proc/sys/kernel/numa_balancing", "0\n");
  const Ended ended = run("--dry-run --monitor hint-faults --root " + folder_.path() + " -- touch " +
                          folder_.path() + "/started");
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_EQ(lines_of(ended.errors), 1U) << ended.errors;
  EXPECT_NE(ended.errors.find("kernel.numa_balancing is 0"), std::string::npos) << ended.errors;
  EXPECT_NE(access((folder_.path() + "/started").c_str(), F_OK), 0) << "the command is not started";
}

// Needs root: for kernel.numa_balancing, and where perf_event_paranoid is high.
class WatchedProgram : public Program {
 protected:
  void SetUp() override {
    if (!may_watch()) {
      GTEST_SKIP() << "needs root, and a kernel with NUMA balancing: the program itself is not tested";
    }
    before_ = content_of(kSetting);
  }
  void TearDown() override {
    if (!may_watch()) {
      return;
    }
    // Another test may have it on for a while.
    for (int tries = 0; content_of(kSetting) != before_ && tries < 600; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_EQ(content_of(kSetting), before_) << "it is as it was";
  }
  const std::string watched_ = "--dry-run --numa-balancing --monitor hint-faults ";
  std::string before_;
};

TEST_F(WatchedProgram, ShowsWhoTouchesWhat) {
#ifndef MEMGRAFT_KERNELS
  GTEST_SKIP() << "memgraft-kernels is not built here";
#else
  const Ended ended =
      run(watched_ + "--interval 0.1 --map --record " + record_file() + " --summary " + folder_.path() +
          "/summary -- " + built(MEMGRAFT_KERNELS) + " cg --class S --iterations 1000");
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_NE(ended.output.find("cg, class S"), std::string::npos) << "the command's own output";
  const std::vector<Json> lines = record();
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(lines.front()["event"], "start");
  EXPECT_EQ(lines.front()["monitor"]["name"], "hint-faults");
  EXPECT_EQ(lines.front()["policy"]["must_pay"], true);
  EXPECT_EQ(lines.front()["nodes"].size(), Topology::of_system().size());
  EXPECT_EQ(lines[1]["event"], "interval");
  EXPECT_TRUE(lines[1].contains("map")) << "the program runs for several intervals";
  EXPECT_EQ(lines.back()["event"], "end");
  EXPECT_EQ(lines.back()["reason"], "exited");
  EXPECT_EQ(lines.back()["exit_code"], 0);
  EXPECT_GT(lines.back()["summary"]["local_before"], 0);
  EXPECT_GT(lines.back()["summary"]["samples"], 100);
  EXPECT_GT(lines.back()["summary"]["pages"], 100);
  const Json summary = Json::parse(content_of(folder_.path() + "/summary"));
  EXPECT_EQ(summary["start"], lines.front());
  EXPECT_EQ(summary["summary"], lines.back()["summary"]);
#endif
}

TEST_F(WatchedProgram, SaysHowTheCommandFailed) {
  Ended ended = run(watched_ + "--record " + record_file() + " -- sh -c 'exit 7'");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.errors, "memgraft place: sh: exit code 7\n");
  EXPECT_EQ(record().back()["exit_code"], 7);
  ended = run(watched_ + "--record " + record_file() + " -- sh -c 'kill -SEGV $$'");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(record().back()["exit_code"], 128 + SIGSEGV);
  ended = run(watched_ + "-- /no/such/program");
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(lines_of(ended.errors), 1U) << ended.errors;
}

TEST_F(WatchedProgram, SaysThatWhatTheCommandStartsIsNotWatched) {
  folder_.write("/busy", "ulimit -t 1; while :; do :; done\n");  // ends after a second of CPU time
  const Ended ended =
      run(watched_ + "--record " + record_file() + " -- sh -c 'sh " + folder_.path() + "/busy; true'");
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const Json end = record().back();
  ASSERT_TRUE(end["summary"]["hindrance"].is_string()) << end;
  EXPECT_NE(end["summary"]["hindrance"].get<std::string>().find("that sh started, which are not watched"),
            std::string::npos)
      << end;
}

TEST_F(WatchedProgram, WhatWasStartedAndEndedBeforeItAttachedIsNoHindrance) {
  folder_.write("/busy", "ulimit -t 1; while :; do :; done\n");
  const std::string script =
      "sh " + folder_.path() + "/busy; touch " + folder_.path() + "/over; exec sleep 1000";
  const pid_t shell = fork();
  if (shell == 0) {
    execlp("sh", "sh", "-c", script.c_str(), nullptr);
    _exit(1);
  }
  while (access((folder_.path() + "/over").c_str(), F_OK) != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const Ended ended = run(watched_ + "--interval 0.1 --duration 0.3 --record " + record_file() + " --pid " +
                          std::to_string(shell));
  kill(shell, SIGKILL);
  waitpid(shell, nullptr, 0);
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_TRUE(record().back()["summary"]["hindrance"].is_null()) << record().back();
}

TEST_F(WatchedProgram, AFullDiskStopsTheRecordAndNotTheCommand) {
  const Ended ended =
      run(watched_ + "--record /dev/full --summary /dev/full -- sh -c 'sleep 0.1; echo done'");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.output, "done\n");
  EXPECT_EQ(ended.errors,
            "memgraft place: /dev/full: No space left on device: nothing more is recorded\n"
            "memgraft place: /dev/full: the summary cannot be written\n");
}

TEST_F(WatchedProgram, PassesSignalsOnToTheCommandAndWaits) {
  // The shell's child is its own process: exec keeps the number.
  const Ended ended = run(watched_ + "--record " + record_file() +
                          " -- sh -c 'trap \"exit 5\" TERM; kill -TERM $PPID; while :; do sleep 0.05; done'");
  EXPECT_EQ(ended.exit_code, 1) << ended.errors;
  EXPECT_EQ(record().back()["exit_code"], 5);
}

TEST_F(WatchedProgram, AttachesAndDetaches) {
  const pid_t sleeper = fork();
  if (sleeper == 0) {
    execlp("sleep", "sleep", "1000", nullptr);
    _exit(1);
  }
  const Ended ended =
      run(watched_ + "--interval 0.2 --duration 0.5 --bind-threads --ignore-move-cost --record " +
          record_file() + " --pid " + std::to_string(sleeper));
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_EQ(record().back()["reason"], "duration");
  EXPECT_TRUE(record().back()["exit_code"].is_null());
  EXPECT_EQ(record().front()["policy"]["must_pay"], false);
  EXPECT_EQ(kill(sleeper, 0), 0) << "it lives on";
  const std::string process = "/proc/" + std::to_string(sleeper);
  const auto affinity = [](const std::string& status) {
    std::string text = content_of(status + "/status");
    text.erase(0, text.find("Cpus_allowed_list:"));
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(affinity(process), affinity("/proc/self"));
  kill(sleeper, SIGKILL);
  waitpid(sleeper, nullptr, 0);
  EXPECT_EQ(run(watched_ + "--pid " + std::to_string(sleeper)).exit_code, 2) << "there is no such process";
}

TEST_F(WatchedProgram, LeavesNothingBehindWhenItIsKilled) {
  const Ended ended = run(watched_ + "-- sh -c 'kill -KILL $PPID; sleep 0.2'");
  EXPECT_NE(ended.exit_code, 0);
}

}  // namespace
}  // namespace memgraft::placement
