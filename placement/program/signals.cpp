#include "signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace memgraft::placement {

Signals::Signals() {
  sigset_t waited;
  sigemptyset(&waited);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    sigaddset(&waited, number);
  }
  (void)sigprocmask(SIG_BLOCK, &waited, &before_);
  (void)signal(SIGPIPE, SIG_IGN);
  fd_ = linux_os::OwnedFd(signalfd(-1, &waited, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<Signals::Taken> Signals::take() {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != sizeof info) {
    return std::nullopt;
  }
  return Taken{.number = static_cast<int>(info.ssi_signo), .from_terminal = info.ssi_code == SI_KERNEL};
}

}  // namespace memgraft::placement
