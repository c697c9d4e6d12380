#include "child.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

namespace memgraft::placement {

namespace {

constexpr int kNotStarted = 127;  // as a shell says it
constexpr int kSignalled = 128;

struct Pipe {
  linux_os::OwnedFd out;
  linux_os::OwnedFd in;
};

Pipe pipe_that_closes() {
  std::array<int, 2> ends{-1, -1};
  (void)pipe2(ends.data(), O_CLOEXEC);
  return {.out = linux_os::OwnedFd(ends[0]), .in = linux_os::OwnedFd(ends[1])};
}

// After fork(): only what is async-signal-safe.
[[noreturn]] void become(char* const* arguments, char* const* variables, int gate, int failure,
                         const sigset_t& mask) {
  char released = 0;
  if (::read(gate, &released, 1) != 1) {
    _exit(kNotStarted);
  }
  (void)signal(SIGPIPE, SIG_DFL);
  (void)sigprocmask(SIG_SETMASK, &mask, nullptr);
  (void)execvpe(arguments[0], arguments, variables);
  const int error = errno;
  const ssize_t told = ::write(failure, &error, sizeof error);
  (void)told;  // nobody else is there to be told
  _exit(kNotStarted);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    all.push_back(text.data());
  }
  all.push_back(nullptr);
  return all;
}

// Of a name that is there twice, programs see the one or the other: ours replaces theirs.
std::vector<std::string> with_environment(std::vector<std::string> more) {
  const std::size_t ours = more.size();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view inherited(*variable);
    const std::string_view name = inherited.substr(0, inherited.find('=') + 1);
    if (std::none_of(more.begin(), more.begin() + static_cast<std::ptrdiff_t>(ours),
                     [&](const std::string& one) { return one.starts_with(name); })) {
      more.emplace_back(inherited);
    }
  }
  return more;
}

}  // namespace

Child::Child(std::vector<std::string> command, std::vector<std::string> environment, const sigset_t& mask) {
  Pipe gate = pipe_that_closes();
  Pipe failure = pipe_that_closes();
  std::vector<std::string> variables = with_environment(std::move(environment));
  const std::vector<char*> argument_pointers = pointers(command);
  const std::vector<char*> variable_pointers = pointers(variables);
  pid_ = fork();
  if (pid_ == 0) {
    ::close(gate.in.get());  // or it would never see that we ended
    become(argument_pointers.data(), variable_pointers.data(), gate.out.get(), failure.in.get(), mask);
  }
  gate_ = std::move(gate.in);
  failure_ = std::move(failure.out);
}

Child::~Child() {
  gate_ = linux_os::OwnedFd();
  if (pid_ > 0 && !exit_code_) {
    // Not released, or we are leaving early on an error of ours: it goes on alone, and is nobody's to wait
    // for.
    int status = 0;
    (void)waitpid(pid_, &status, WNOHANG);
  }
}

int Child::release() {
  const char go = 1;
  int error = 0;
  if (::write(gate_.get(), &go, 1) != 1) {
    return errno;
  }
  return ::read(failure_.get(), &error, sizeof error) == sizeof error ? error : 0;
}

int Child::wait() {
  int status = 0;
  while (!exit_code_) {
    if (waitpid(pid_, &status, 0) == pid_) {
      exit_code_ = WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
    } else if (errno != EINTR) {
      exit_code_ = kNotStarted;
    }
  }
  return *exit_code_;
}

linux_os::OwnedFd end_of(pid_t process) {
  return linux_os::OwnedFd(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
}

}  // namespace memgraft::placement
