// A helper that is stopped in the middle of a block, as a debugger, a preemption or an exhausted cgroup may
// stop it: nobody waits for it, and when it runs on, it writes nothing that is no longer its own.
#include <dirent.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "nursery.h"

namespace memgraft::zeroing::testing {
namespace {

pid_t helper_thread() {
  pid_t found = 0;
  DIR* const folder = opendir("/proc/self/task");
  while (const dirent* entry = readdir(folder)) {
    std::ifstream comm(std::string("/proc/self/task/") + entry->d_name + "/comm");
    std::string name;
    if (std::getline(comm, name) && name == "memgraft-zero") {
      found = static_cast<pid_t>(std::stol(entry->d_name));
    }
  }
  closedir(folder);
  return found;
}

// A child process that stops one thread of this one, and lets it run on when asked.
class Freezer {
 public:
  explicit Freezer(pid_t thread) {
    if (pipe(orders_) != 0 || pipe(answers_) != 0) {
      std::abort();
    }
    tracer_ = fork();
    if (tracer_ == 0) {
      close(orders_[1]);
      trace(thread);
      _exit(0);
    }
    close(orders_[0]);
    close(answers_[1]);
    // Where Yama restricts ptrace to ancestors, this names the exception; elsewhere it fails, and is not
    // needed.
    (void)prctl(PR_SET_PTRACER, tracer_, 0, 0, 0);
  }
  ~Freezer() {
    close(orders_[1]);  // the tracer ends, and with it whatever it had stopped runs on
    waitpid(tracer_, nullptr, 0);
    close(answers_[0]);
  }
  Freezer(const Freezer&) = delete;
  Freezer& operator=(const Freezer&) = delete;
  Freezer(Freezer&&) = delete;
  Freezer& operator=(Freezer&&) = delete;

  // 0, or the error number with which the system refuses.
  int attach() { return ask('a'); }
  int freeze() { return ask('f'); }
  int thaw() { return ask('t'); }

 private:
  int ask(char order) {
    int answer = -1;
    if (write(orders_[1], &order, 1) != 1 || read(answers_[0], &answer, sizeof answer) != sizeof answer) {
      return EPIPE;
    }
    return answer;
  }

  void trace(pid_t thread) const {
    char order = 0;
    while (read(orders_[0], &order, 1) == 1) {
      long done = 0;
      if (order == 'a') {
        done = ptrace(PTRACE_SEIZE, thread, nullptr, nullptr);
      } else if (order == 'f') {
        done = ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
        done = done == 0 && waitpid(thread, nullptr, __WALL) == thread ? 0 : -1;
      } else {
        done = ptrace(PTRACE_CONT, thread, nullptr, nullptr);
      }
      const int answer = done == 0 ? 0 : errno;
      if (write(answers_[1], &answer, sizeof answer) != sizeof answer) {
        return;
      }
    }
  }

  int orders_[2] = {};
  int answers_[2] = {};
  pid_t tracer_ = 0;
};

// A block takes the helper milliseconds, so that it is stopped within one.
constexpr std::size_t kBlockBytes = 32 * kMiB;
constexpr std::size_t kNurseryBytes = 2 * kBlockBytes;  // wherever it lies, there is a whole block in it

constexpr int kEnough = 3;
// Where each thread has a CPU, nearly every round counts; beside other programs fewer do.
constexpr int kMostRounds = 2000;

class Frozen : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP()
        << "SKIPPED: this sanitizer sees nothing of a restartable sequence, and slows the rest beyond use";
#endif
    std::string reason;
    ASSERT_TRUE(ahead.start(reason)) << reason;
    if (!ahead.can_steal(reason)) {
      GTEST_SKIP() << "SKIPPED: blocks cannot be taken from a stopped helper here: " << reason;
    }
    ASSERT_TRUE(eventually([] { return helper_thread() != 0; }));
    freezer.emplace(helper_thread());
    if (const int error = freezer->attach(); error != 0) {
      GTEST_SKIP() << "SKIPPED: ptrace(2) is refused here: " << std::strerror(error);
    }
  }

  // Opens the nursery and stops the helper a little after it has begun the whole block there.
  void open_and_freeze(Random& random) {
    nursery.soil();
    ahead.open(nursery.memory());
    while (first_of_whole_block().load(std::memory_order_relaxed) == kDirt) {
      std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(400)));
    ASSERT_EQ(freezer->freeze(), 0);
  }

  // The helper runs on: waits until it has finished something else, so that whatever it was about is over.
  void thaw_and_pass(std::span<std::byte> elsewhere) {
    ASSERT_EQ(freezer->thaw(), 0);
    const Bytes before = ahead.counts().zeroed_ahead;
    ahead.open(elsewhere);
    ASSERT_TRUE(eventually([&] { return ahead.counts().zeroed_ahead > before; }));
    ahead.close();
  }

  [[nodiscard]] std::atomic_ref<std::byte> first_of_whole_block() const {
    const auto begin = reinterpret_cast<std::uintptr_t>(nursery.memory().data());
    return std::atomic_ref(nursery.memory()[(kBlockBytes - begin % kBlockBytes) % kBlockBytes]);
  }

  Nursery nursery{kNurseryBytes};
  Nursery other{kMiB};
  ZeroingAhead ahead{settings(true, kBlockBytes)};  // its helper ends before the memory that it zeroes
  std::optional<Freezer> freezer;
};

// It runs on while the region is still open, where only its block's word says that the block is another's, or
// afterwards.
TEST_F(Frozen, InABlockThatIsTaken) {
  Random random(3);
  std::array<int, 2> met{};  // afterwards, while open
  for (int round = 0; round < kMostRounds && std::ranges::min(met) < kEnough; ++round) {
    const bool while_open = round % 2 == 1;
    open_and_freeze(random);
    const std::span<std::byte> all = nursery.memory();
    const std::uint64_t before = ahead.counts().steals;
    ahead.take(all.data(), all.size());
    met.at(while_open ? 1 : 0) += ahead.counts().steals > before ? 1 : 0;
    ASSERT_TRUE(holds(all, std::byte{0}));
    fill(all, std::byte{5});
    if (while_open) {
      ASSERT_EQ(freezer->thaw(), 0);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      ahead.close();
      ASSERT_EQ(freezer->freeze(), 0);
    } else {
      ahead.close();
    }
    thaw_and_pass(other.memory());
    ASSERT_TRUE(holds(all, std::byte{5})) << "in round " << round;
  }
  EXPECT_GE(std::ranges::min(met), kEnough);
  EXPECT_EQ(ahead.counts().waits, 0U);
}

// Over several collections: it must not take a later one's words for those it knew.
TEST_F(Frozen, InABlockWhileCollectionsGoBy) {
  Random random(4);
  int met = 0;
  for (int round = 0; round < kMostRounds && met < kEnough; ++round) {
    open_and_freeze(random);
    const std::uint64_t before = ahead.counts().closes_in_block;
    ahead.close();
    met += ahead.counts().closes_in_block > before ? 1 : 0;
    const std::span<std::byte> all = nursery.memory();
    for (std::size_t later = 0; later < random.below(4); ++later) {
      nursery.soil();
      ahead.open(all);
      ahead.take(all.data(), kBlockBytes / 2);
      ASSERT_TRUE(holds(all.first(kBlockBytes / 2), std::byte{0}));
      ahead.close();
    }
    fill(all, std::byte{6});
    thaw_and_pass(other.memory());
    ASSERT_TRUE(holds(all, std::byte{6})) << "in round " << round;
  }
  EXPECT_GE(met, kEnough);
  EXPECT_EQ(ahead.counts().waits, 0U);
}

}  // namespace
}  // namespace memgraft::zeroing::testing
