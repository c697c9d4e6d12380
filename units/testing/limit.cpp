// A test that hangs is ended, after the stacks of all its threads, and of the processes that it started, were
// printed. Linked into every test program; CTest's own limit, a little later, ends what cannot even do that.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>

namespace memgraft {
namespace {

// Far above what any test needs. Another number in the environment: 0 for none, for those who debug.
constexpr unsigned kSeconds = 280;
constexpr const char* kOtherSeconds = "MEMGRAFT_TEST_SECONDS";
constexpr int kExitCode = 124;  // as of timeout(1)

// $1: the test's process. The shell itself is among its children.
constexpr const char* kScript = R"sh(
tree() {
  for process in "$@"; do
    [ "$process" = $$ ] || { echo "$process"; tree $(cat /proc/"$process"/task/*/children 2>/dev/null); }
  done
}
echo "the test hangs"
all=$(tree "$1")
for process in $all; do
  echo "--- $process: $(tr '\0' ' ' </proc/"$process"/cmdline)"
  if command -v gdb >/dev/null; then
    gdb -nx -p "$process" -batch -ex "thread apply all backtrace 30" </dev/null 2>&1
  else
    echo "no gdb, so no stacks"
  fi
done
for process in $all; do [ "$process" = "$1" ] || kill -KILL "$process"; done
)sh";

// Made before it is needed: little may be called where a signal has interrupted.
std::array<char, 16> own_process;

void end_the_test(int /*signal*/) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const pid_t shell = fork();
  if (shell == 0) {
    execl("/bin/sh", "sh", "-c", kScript, "sh", own_process.data(), nullptr);
    _exit(kExitCode);
  }
  waitpid(shell, nullptr, 0);
  _exit(kExitCode);
}

unsigned seconds() {
  const char* other = std::getenv(kOtherSeconds);
  return other == nullptr ? kSeconds : static_cast<unsigned>(std::strtoul(other, nullptr, 10));
}

class Limit : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& /*test*/) override {
    own_process.fill('\0');
    std::to_chars(own_process.data(), own_process.data() + own_process.size() - 1, getpid());
    struct sigaction action = {};
    action.sa_handler = end_the_test;
    sigaction(SIGALRM, &action, nullptr);
    alarm(seconds());
  }
  void OnTestEnd(const testing::TestInfo& /*test*/) override { alarm(0); }
};

const bool kListens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Limit);  // theirs from now on
  return true;
}();

}  // namespace
}  // namespace memgraft
