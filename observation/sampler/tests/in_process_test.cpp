// Real programs under the sampler: they do what they would do without it, and the touches are theirs.
#include "memgraft/observation/in_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <ranges>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "kept_apart.h"
#include "memgraft/built.h"
#include "memgraft/deep.h"

namespace memgraft::observation {
namespace {

// Many more than by default, so that what can go wrong does.
constexpr Sampling kEager{.pages_per_second = 20000, .cpu_share = 1};

constexpr std::size_t kEnough = 100;

struct Ran {
  int status = 0;
  std::string output;
  std::vector<Touch> touches;
  std::string standing;
};

class Program {
 public:
  explicit Program(const std::vector<std::string>& command, const Sampling& sampling = kEager) {
    auto prepared = InProcess::prepare(built(MEMGRAFT_SAMPLER), sampling);
    EXPECT_TRUE(std::holds_alternative<std::unique_ptr<InProcess>>(prepared));
    side_ = std::move(std::get<std::unique_ptr<InProcess>>(prepared));
    EXPECT_EQ(pipe2(output_, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(input_, O_CLOEXEC), 0);
    const std::vector<std::string> environment = side_->environment();
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const auto& word : command) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    child_ = fork();
    if (child_ == 0) {
      dup2(output_[1], STDOUT_FILENO);
      dup2(output_[1], STDERR_FILENO);
      dup2(input_[0], STDIN_FILENO);
      for (const auto& variable : environment) {
        putenv(const_cast<char*>(variable.c_str()));
      }
      execvp(arguments[0], arguments.data());
      _exit(127);
    }
    close(output_[1]);
    close(input_[0]);
    reader_ = std::thread([this] {
      char buffer[4096];
      for (ssize_t got = 0; (got = read(output_[0], buffer, sizeof(buffer))) > 0;) {
        const std::scoped_lock locked(output_lock_);
        ran_.output.append(buffer, static_cast<std::size_t>(got));
      }
    });
    monitor_ = side_->watch(child_);
  }
  ~Program() {
    if (reader_.joinable()) {
      finish();
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program(Program&&) = delete;
  Program& operator=(Program&&) = delete;

  [[nodiscard]] pid_t process() const { return child_; }
  [[nodiscard]] std::string standing() const { return side_->standing(); }
  [[nodiscard]] std::string hindrance() const { return monitor_->hindrance(); }
  [[nodiscard]] std::uint64_t nanoseconds_inside() const { return monitor_->nanoseconds_inside(); }
  [[nodiscard]] bool has_touched(std::uint64_t begin, std::uint64_t end) const {
    return std::ranges::any_of(
        ran_.touches, [&](const Touch& touch) { return begin <= touch.address && touch.address < end; });
  }
  bool keep_apart(std::uint64_t address) { return monitor_->keep_apart(address); }
  [[nodiscard]] const Sees& sees() const { return monitor_->sees(); }
  void end_sampling() { monitor_.reset(); }
  void end_input() {
    if (input_[1] >= 0) {
      close(std::exchange(input_[1], -1));
    }
  }
  void drain() {
    if (monitor_) {
      monitor_->drain([this](const Touch& touch) { ran_.touches.push_back(touch); });
    }
  }
  // Lets it run until there are so many touches, or it ended.
  void wait_for_touches(std::size_t least) {
    siginfo_t ended{};
    while (ran_.touches.size() < least &&
           waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0) {
      drain();
      usleep(20000);
    }
  }
  // The first line that it printed.
  std::istringstream wait_for_line() {
    while (true) {
      {
        const std::scoped_lock locked(output_lock_);
        if (ran_.output.find('\n') != std::string::npos) {
          return std::istringstream(ran_.output);
        }
      }
      usleep(20000);
    }
  }
  void wait_for_standing(const std::string& words) {
    while (standing().find(words) == std::string::npos) {
      drain();
      usleep(20000);
    }
  }
  const Ran& finish(std::size_t least = 0) {
    wait_for_touches(least);
    end_input();
    while (waitpid(child_, &ran_.status, WNOHANG) == 0) {
      drain();
      usleep(20000);
    }
    drain();
    reader_.join();
    ran_.standing = standing();
    close(output_[0]);
    return ran_;
  }

 private:
  std::unique_ptr<InProcess> side_;
  std::unique_ptr<Monitor> monitor_;
  std::mutex output_lock_;
  int output_[2] = {-1, -1};
  int input_[2] = {-1, -1};
  pid_t child_ = -1;
  std::thread reader_;
  Ran ran_;
};

std::vector<std::string> scenario(const std::string& name, const std::string& seconds = "1.5") {
  return {built(MEMGRAFT_SAMPLED_PROGRAM), name, seconds};
}

class Undisturbed : public testing::TestWithParam<const char*> {};
TEST_P(Undisturbed, Scenario) {
  Program program(scenario(GetParam()));
  const Ran& ran = program.finish(kEnough);
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_GE(ran.touches.size(), kEnough) << ran.standing;
  EXPECT_EQ(ran.standing, "ended");
}
INSTANTIATE_TEST_SUITE_P(InProcess, Undisturbed,
                         testing::Values("own_handler", "changes", "io", "processes", "signals", "locks",
                                         "threads", "ends_like_an_arena", "between_inaccessible"),
                         [](const auto& test) { return std::string(test.param); });

TEST(InProcess, SaysWhichThreadTouchedAndHow) {
  Program program(scenario("attribution"), {});
  const Ran& ran = program.finish(1000);
  ASSERT_EQ(ran.status, 0) << ran.output;
  struct Own {
    std::uint32_t thread;
    std::uint64_t begin;
    bool stores;
  };
  std::vector<Own> all;
  std::istringstream lines(ran.output);
  for (Own own{}; lines >> own.thread >> std::hex >> own.begin >> std::dec;) {
    std::string how;
    lines >> how;
    own.stores = how == "stores";
    all.push_back(own);
  }
  ASSERT_EQ(all.size(), 2U) << ran.output;
  constexpr std::uint64_t kBytes = 2048ULL * 4096;
  for (const Own& own : all) {
    std::size_t touches = 0;
    for (const Touch& touch : ran.touches) {
      if (touch.address < own.begin || touch.address >= own.begin + kBytes) {
        continue;
      }
      // Its first access to a page is from memset, all others are the loop's.
      ++touches;
      EXPECT_EQ(touch.thread, own.thread);
      EXPECT_EQ(touch.address % 4096, 8U);
      EXPECT_GT(touch.nanoseconds, 0U);
      EXPECT_LT(touch.cpu, 4096U);
#if defined(__x86_64__)
      EXPECT_EQ(touch.store, own.stores);
#else
      EXPECT_FALSE(touch.store.has_value());
#endif
    }
    EXPECT_GT(touches, kEnough);
  }
}

std::uint64_t watched_for(const Touch& touch) { return touch.watched_nanoseconds.value_or(0); }
// So few pages at a time that there are many rounds of them.
constexpr Sampling kFew{.pages_per_second = 500, .cpu_share = 1};
constexpr std::uint64_t kMillisecond = 1'000'000;

// Load lengthens it, up to the age of the program.
TEST(InProcess, SaysForHowLongAPageWasWatched) {
  const auto start = std::chrono::steady_clock::now().time_since_epoch();
  Program idle(scenario("seldom"), kFew);
  std::uint64_t most = 0;
  for (const Touch& touch : idle.finish(500).touches) {
    EXPECT_GE(watched_for(touch), kMillisecond);
    EXPECT_LE(watched_for(touch),
              touch.nanoseconds - static_cast<std::uint64_t>(std::chrono::nanoseconds(start).count()));
    most = std::max(most, watched_for(touch));
  }
  EXPECT_GE(most, 100 * kMillisecond) << "of 300 between two touches";
}

// In one of twenty rounds the program has a CPU at once, unless others want it.
TEST(InProcess, SaysThatABusyPageWasWatchedForMoments) {
  MEMGRAFT_DEEP_TEST();
  Program busy(scenario("attribution"), kFew);
  EXPECT_LT(std::ranges::min(busy.finish(1000).touches | std::views::transform(watched_for)),
            100 * kMillisecond);
}

TEST(InProcess, RealFaultsStillKill) {
  const std::string why = "ended: the program got a SIGSEGV of its own doing";
  for (const auto& [name, standing] :
       {std::pair("crash", why + " at 0x8 (si_code 1)"),
        std::pair("kill_itself", why + ", which a process sent (si_code -6)")}) {
    Program program(scenario(name, "0.7"));
    const Ran& ran = program.finish(kEnough);
    EXPECT_TRUE(WIFSIGNALED(ran.status)) << name << ran.output;
    EXPECT_EQ(WTERMSIG(ran.status), SIGSEGV) << name;
    EXPECT_EQ(ran.standing, standing) << name;
    EXPECT_GE(ran.touches.size(), kEnough);
  }
}

TEST(InProcess, LeavesAllPagesAccessibleAndInOnePiece) {
  Program program(scenario("left", "0"));
  program.wait_for_touches(kEnough);
  program.end_sampling();
  program.wait_for_standing("ended");
  const Ran& ran = program.finish();
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_GE(ran.touches.size(), kEnough);
}

TEST(InProcess, EndsWhereTheSignalIsTaken) {
  Program program(scenario("take_signal", "0"));
  program.wait_for_standing("took SIGSEGV for itself");
  const Ran& ran = program.finish();
  EXPECT_EQ(ran.status, 0) << ran.output;
}

pid_t sampling_thread(pid_t process) {
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    std::string name;
    if (std::getline(std::ifstream(entry.path() / "comm"), name) && name == "memgraft-sample") {
      return static_cast<pid_t>(std::stol(entry.path().filename()));
    }
  }
  return -1;
}

TEST(InProcess, TakesEachCpuInTurn) {
  MEMGRAFT_DEEP_TEST();
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  Program program(scenario("attribution"), {});
  program.wait_for_touches(1);
  const pid_t thread = sampling_thread(program.process());
  ASSERT_GT(thread, 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  cpu_set_t taken{};
  while (CPU_EQUAL(&taken, &all) == 0 && std::chrono::steady_clock::now() < end) {
    cpu_set_t now;
    ASSERT_EQ(sched_getaffinity(thread, sizeof(now), &now), 0);
    EXPECT_EQ(CPU_COUNT(&now), 1);
    CPU_OR(&taken, &taken, &now);
    usleep(5000);
  }
  EXPECT_NE(CPU_EQUAL(&taken, &all), 0);
  cpu_set_t of_program;
  ASSERT_EQ(sched_getaffinity(program.process(), sizeof(of_program), &of_program), 0);
  EXPECT_NE(CPU_EQUAL(&of_program, &all), 0) << "its own threads stay where they were";
  EXPECT_EQ(program.finish().status, 0);
}

// Of one thread, by the kernel.
std::uint64_t cpu_nanoseconds(pid_t process, pid_t thread) {
  std::ifstream stats("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/schedstat");
  std::uint64_t nanoseconds = 0;
  stats >> nanoseconds;
  return nanoseconds;
}

TEST(InProcess, CountsWhatTouchesCostAmongItsOwn) {
  MEMGRAFT_DEEP_TEST();
  constexpr std::size_t kTouches = 2000;
  constexpr std::uint64_t kLeastEach = 500;  // nanoseconds: a signal and two system calls
  Program program(scenario("attribution"), {.cpu_share = 0.02});
  program.wait_for_touches(kTouches);
  const pid_t thread = sampling_thread(program.process());
  ASSERT_GT(thread, 0);
  // More than the thread itself has used, which is asked afterwards; it counts its own time once in a round.
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  bool counted = false;
  while (!counted && std::chrono::steady_clock::now() < end) {
    program.drain();
    const std::uint64_t inside = program.nanoseconds_inside();
    counted = inside > cpu_nanoseconds(program.process(), thread) + kTouches * kLeastEach;
    usleep(5000);
  }
  EXPECT_TRUE(counted);
  EXPECT_EQ(program.finish().status, 0);
}

TEST(InProcess, SaysWhatItLeavesOutAsMaybeStacks) {
  Program program(scenario("fenced"));
  program.wait_for_touches(kEnough);
  EXPECT_EQ(program.hindrance(),
            "8 of 16 MiB in large pieces are not sampled: they lie behind a small inaccessible region, as "
            "stacks do; --monitor hint-faults sees them");
  EXPECT_EQ(program.finish().status, 0);
  Program threads(scenario("attribution"));
  threads.wait_for_touches(kEnough);
  EXPECT_EQ(threads.hindrance(), "") << "stacks that are known";
  EXPECT_EQ(threads.finish().status, 0);
}

TEST(InProcess, SaysHowMuchIsMallocs) {
  Program program(scenario("scattered"));
  program.wait_for_touches(kEnough);
  const std::string hindrance = program.hindrance();
  EXPECT_TRUE(hindrance.starts_with("24 of 3")) << hindrance << ", 32 MiB and what the libraries have";
  EXPECT_TRUE(
      hindrance.ends_with(" MiB are not sampled: they are malloc's for small objects, or in pieces of less "
                          "than 1024 KiB, or in too many pieces; --monitor hint-faults sees them"))
      << hindrance;
  EXPECT_EQ(program.finish().status, 0);
}

// So that each of its pages can be moved to where it is used.
TEST(InProcess, SplitsHugePages) {
  Program program(scenario("huge", "3"));
  EXPECT_TRUE(program.sees().splits) << "said";
  const Ran& ran = program.finish(4000);
  ASSERT_EQ(ran.status, 0) << ran.output;
  long before = 0;
  long after = 0;
  ASSERT_TRUE(std::istringstream(ran.output) >> before >> after) << ran.output;
  if (before <= 0) {
    GTEST_SKIP() << "SKIPPED: no transparent huge pages here, or none that may be known of (root may): "
                 << ran.output;
  }
  EXPECT_EQ(after, 0);
}

TEST(InProcess, KeepsPartsOfHugePagesApart) {
  std::uint64_t bytes = 0;
  if (!(std::ifstream("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size") >> bytes)) {
    GTEST_SKIP() << "SKIPPED: no transparent huge pages here";
  }
  Program program(scenario("attribution"));
  long thread = 0;
  std::uint64_t memory = 0;
  ASSERT_TRUE(program.wait_for_line() >> thread >> std::hex >> memory);
  // It cannot be kept apart before it is sampled.
  while (!program.has_touched(memory, memory + (8U << 20U))) {
    program.drain();
    usleep(20000);
  }
  // Not at the ends of the thread's 8 MiB, which a block may go beyond.
  const std::uint64_t address = memory + (3U << 20U);
  EXPECT_FALSE(is_kept_apart(program.process(), address));
  EXPECT_TRUE(program.keep_apart(address));
  while (!is_kept_apart(program.process(), address)) {
    program.drain();
    usleep(20000);
  }
  const std::uint64_t block = address / bytes * bytes;
  EXPECT_TRUE(is_kept_apart(program.process(), block));
  EXPECT_TRUE(is_kept_apart(program.process(), block + bytes - 1));
  EXPECT_FALSE(is_kept_apart(program.process(), block + bytes));
  EXPECT_TRUE(program.keep_apart(1)) << "nothing is there";
  EXPECT_EQ(program.finish().status, 0);
}

TEST(InProcess, SamplesOnlyTheFirstProcess) {
  // The shell claims it; the program that it starts is not it.
  Program program({"sh", "-c", built(MEMGRAFT_SAMPLED_PROGRAM) + " threads 0.5; exit 3"});
  const Ran& ran = program.finish();
  EXPECT_EQ(WEXITSTATUS(ran.status), 3);
  EXPECT_EQ(ran.touches.size(), 0U);
  // The same process, after exec.
  Program again({"sh", "-c", "exec " + built(MEMGRAFT_SAMPLED_PROGRAM) + " threads 0"});
  EXPECT_GE(again.finish(kEnough).touches.size(), kEnough);
}

TEST(InProcess, LeavesJvmsAlone) {
  if (std::system("java -version >/dev/null 2>&1") != 0) {  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
    GTEST_SKIP() << "no java";
  }
  Program program({"java", "-version"});
  const Ran& ran = program.finish();
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(ran.touches.size(), 0U);
  EXPECT_NE(ran.standing.find("it is a JVM"), std::string::npos) << ran.standing;
}

#ifdef MEMGRAFT_KERNELS
TEST(InProcess, KernelsVerifyTheirResults) {
  MEMGRAFT_DEEP_TEST();
  for (const auto& [kernel, size] :
       std::map<std::string, std::string>{{"cg", "A"}, {"mg", "W"}, {"ft", "W"}}) {
    Program program({built(MEMGRAFT_KERNELS), kernel, "--class", size, "--threads", "3"});
    const Ran& ran = program.finish();
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_NE(ran.output.find("verified"), std::string::npos) << ran.output;
    EXPECT_EQ(ran.standing, "ended");
    EXPECT_TRUE(kernel != "cg" || ran.touches.size() > 20U);
  }
}
#endif

TEST(InProcess, SaysWhatIsMissing) {
  const auto prepared = InProcess::prepare("/no/such/library.so");
  ASSERT_TRUE(std::holds_alternative<Refusal>(prepared));
  EXPECT_NE(std::get<Refusal>(prepared).why.find("/no/such/library.so cannot be read"), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<Refusal>(InProcess::prepare("/dev/null /x")));
  Program program({"busybox", "true"});
  const Ran& ran = program.finish();
  if (WEXITSTATUS(ran.status) != 127) {
    EXPECT_NE(ran.standing.find("not loaded"), std::string::npos);
  }
}

}  // namespace
}  // namespace memgraft::observation
