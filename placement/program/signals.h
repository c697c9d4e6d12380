// Signals as something to wait for.
#pragma once

#include <signal.h>

#include <optional>

#include "memgraft/linux/owned_fd.h"

namespace memgraft::placement {

// From now on SIGINT, SIGTERM and SIGHUP wait to be taken, and SIGPIPE is an error of its write.
class Signals {
 public:
  Signals();

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const sigset_t& before() const { return before_; }  // the mask of who started us

  struct Taken {
    int number = 0;
    bool from_terminal = false;  // which sends it to the whole foreground group
  };
  std::optional<Taken> take();

 private:
  sigset_t before_{};
  linux_os::OwnedFd fd_;
};

}  // namespace memgraft::placement
