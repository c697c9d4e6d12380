// Real threads, on the CPUs of this machine, which is said to have a node for each of two of them.
#include "memgraft/placement/binding.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "fake_root.h"
#include "memgraft/linux/threads_of.h"

namespace memgraft::placement {
namespace {

// A process of three threads, which gets a fourth for each byte written to it.
class Process {
 public:
  Process() {
    if (pipe(pipe_.data()) != 0) {
      return;
    }
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const auto idle = [] { std::this_thread::sleep_for(std::chrono::hours(1)); };
      std::thread(idle).detach();
      std::thread(idle).detach();
      for (char byte = 0; read(pipe_[0], &byte, 1) == 1;) {
        std::thread(idle).detach();
      }
      _exit(0);
    }
    await(3);
  }
  ~Process() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(pipe_[0]);
    close(pipe_[1]);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  Process(Process&&) = delete;
  Process& operator=(Process&&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void add_thread(std::size_t then) {
    ASSERT_EQ(write(pipe_[1], "+", 1), 1);
    await(then);
  }

 private:
  void await(std::size_t threads) const {
    while (linux_os::threads_of(pid_).size() < threads) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  pid_t pid_ = -1;
  std::array<int, 2> pipe_{};
};

std::vector<int> cpus_of(pid_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(thread, sizeof set, &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

class Bound : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "SKIPPED: ThreadSanitizer's runtime has threads of its own in a forked child";
#endif
    all_ = cpus_of(0);
    if (all_.size() < 2) {
      GTEST_SKIP() << "needs two CPUs";
    }
    const std::string node = "/sys/devices/system/node/";
    root_.write(node + "online", "0-1\n");
    root_.write(node + "node0/cpulist", std::to_string(all_[0]) + "\n");
    root_.write(node + "node1/cpulist", std::to_string(all_[1]) + "\n");
    topology_ = Topology::of_system(root_.path());
  }
  linux_os::FakeRoot root_;
  Topology topology_;
  std::vector<int> all_;
};

TEST_F(Bound, ThreadsAreSpreadOverTheNodesAndGetBackWhatTheyHad) {
  Process process;
  {
    Binding binding(process.pid(), topology_);
    binding.bind_new();
    const std::vector<pid_t> threads = linux_os::threads_of(process.pid());
    ASSERT_EQ(threads.size(), 3U);
    EXPECT_EQ(cpus_of(threads[0]), std::vector{all_[0]});
    EXPECT_EQ(cpus_of(threads[1]), std::vector{all_[1]});
    EXPECT_EQ(cpus_of(threads[2]), std::vector{all_[0]});
    process.add_thread(4);
    binding.bind_new();
    // Its number is not the highest where the kernel's have begun anew.
    for (const pid_t thread : linux_os::threads_of(process.pid())) {
      if (!std::ranges::binary_search(threads, thread)) {
        EXPECT_EQ(cpus_of(thread), std::vector{all_[1]});
      }
    }
    process.add_thread(5);  // begins bound as its parent is, and is never looked at
  }
  for (const pid_t thread : linux_os::threads_of(process.pid())) {
    EXPECT_EQ(cpus_of(thread), all_) << thread;
  }
}

TEST_F(Bound, AThreadThatWasGivenOtherCpusMeanwhileKeepsThem) {
  Process process;
  Binding binding(process.pid(), topology_);
  binding.bind_new();
  const pid_t first = linux_os::threads_of(process.pid()).front();
  cpu_set_t other;
  CPU_ZERO(&other);
  CPU_SET(static_cast<std::size_t>(all_[1]), &other);
  ASSERT_EQ(sched_setaffinity(first, sizeof other, &other), 0);
  binding.undo();
  EXPECT_EQ(cpus_of(first), std::vector{all_[1]});
}

TEST_F(Bound, AProcessThatHasEndedIsNoError) {
  auto process = std::make_unique<Process>();
  Binding binding(process->pid(), topology_);
  binding.bind_new();
  process.reset();
  binding.bind_new();
  EXPECT_EQ(binding.bound(), 0U);
}

}  // namespace
}  // namespace memgraft::placement
