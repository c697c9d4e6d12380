#include "memgraft/allocation/own_cpu.h"

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "pinned.h"

namespace memgraft::allocation {
namespace {

TEST(OwnCpu, IsTheOneTheThreadWasPutOn) {
  for (const unsigned cpu : allowed_cpus()) {
    std::thread([cpu] {
      stay_on(cpu);
      EXPECT_EQ(own_cpu(), cpu);
    }).join();
  }
}

TEST(OwnCpu, IsNeverRestartableWhereGlibcHasNotRegistered) {
  const char* const tunables = std::getenv("GLIBC_TUNABLES");
  if (tunables == nullptr || std::string_view(tunables) != "glibc.pthread.rseq=0") {
    GTEST_SKIP() << "glibc was not told to leave rseq(2) alone; allocation.without_rseq tells it";
  }
  EXPECT_FALSE(can_replace_on_cpu());
}

class ReplaceOnCpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_replace_on_cpu()) {
      GTEST_SKIP() << "no restartable sequences here";
    }
  }
};

TEST_F(ReplaceOnCpu, ReplacesWhatIsExpected) {
  const unsigned cpu = allowed_cpus().front();
  std::thread([cpu] {
    stay_on(cpu);
    std::atomic<State> word{1};
    EXPECT_EQ(replace_on_cpu(word, 1, 2, cpu), Replaced::yes);
    EXPECT_EQ(word.load(), 2U);
    EXPECT_EQ(replace_on_cpu(word, 1, 3, cpu), Replaced::no);
    EXPECT_EQ(word.load(), 2U);
    EXPECT_EQ(replace_on_cpu(word, 2, 3, cpu + 1), Replaced::moved);
    EXPECT_EQ(word.load(), 2U);
  }).join();
}

// A process that does something while its parent makes it execute one instruction at a time.
template <typename Action>
class Stepped {
 public:
  explicit Stepped(Action action) : child_(fork()) {
    if (child_ == 0) {
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      raise(SIGSTOP);
      _exit(action() ? 0 : 1);
    }
    waitpid(child_, &status_, 0);
  }

  // How many steps it took to its end; nothing if it needs more than `most`.
  std::optional<int> step(int most) {
    for (int steps = 1; steps <= most; ++steps) {
      if (ptrace(PTRACE_SINGLESTEP, child_, nullptr, nullptr) != 0) {
        return std::nullopt;
      }
      waitpid(child_, &status_, 0);
      if (WIFEXITED(status_)) {
        return steps;
      }
    }
    return std::nullopt;
  }

  // The rest, without stops: whether the action said that it was right.
  bool finish() {
    ptrace(PTRACE_DETACH, child_, nullptr, nullptr);
    waitpid(child_, &status_, 0);
    return WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
  }

 private:
  pid_t child_;
  int status_ = 0;
};

// Each stop between two instructions is a preemption, so a sequence that the kernel knows of never ends; one
// that was not announced to it does.
TEST_F(ReplaceOnCpu, BeginsAnewAfterEveryPreemption) {
  const unsigned cpu = allowed_cpus().front();
  std::atomic<State> word{0};
  Stepped ordinary([&word] {
    State expected = 0;
    return word.compare_exchange_strong(expected, 1);
  });
  constexpr int kFar = 200'000;
  const std::optional<int> steps = ordinary.step(kFar);
  if (!steps) {
    (void)ordinary.finish();
    GTEST_SKIP() << "no single steps here";
  }
  Stepped restartable([&word, cpu] {
    stay_on(cpu);
    return replace_on_cpu(word, 0, 1, cpu) == Replaced::yes;
  });
  constexpr int kStayOnToo = 20;
  EXPECT_FALSE(restartable.step(*steps * kStayOnToo).has_value());
  EXPECT_TRUE(restartable.finish());
}

// Threads of one CPU count together in one word, preempted at any instruction, and interrupted by signals.
TEST_F(ReplaceOnCpu, LosesNothingAmongThreadsOfOneCpu) {
  // What an interruption breaks is found without a sanitizer; under one a signal takes far longer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::uint64_t kEach = 5'000'000;
#else
  constexpr std::uint64_t kEach = 50'000'000;
#endif
  constexpr int kThreads = 4;
  const unsigned cpu = allowed_cpus().front();
  static std::atomic<std::uint64_t> signals{0};
  std::signal(SIGUSR1, [](int) { signals.fetch_add(1, std::memory_order_relaxed); });
  std::atomic<State> word{0};
  std::atomic<std::uint64_t> replaced{0};
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      stay_on(cpu);
      std::uint64_t done = 0;
      // On a busy machine a thread may have done all before the first signal.
      while (done < kEach || signals.load(std::memory_order_relaxed) == 0) {
        const State seen = word.load(std::memory_order_relaxed);
        done += replace_on_cpu(word, seen, seen + 1, cpu) == Replaced::yes ? 1 : 0;
      }
      replaced.fetch_add(done);
      running.fetch_sub(1);
    });
  }
  // SIGUSR1 makes a thread leave its sequence, like a preemption.
  while (running.load() > 0) {
    for (std::thread& thread : threads) {
      pthread_kill(thread.native_handle(), SIGUSR1);
    }
    constexpr timespec kNap{.tv_sec = 0, .tv_nsec = 20'000};
    nanosleep(&kNap, nullptr);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::signal(SIGUSR1, SIG_DFL);
  EXPECT_EQ(word.load(), replaced.load());
}

}  // namespace
}  // namespace memgraft::allocation
