// The program that is placed: started by us, or attached to.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "memgraft/linux/owned_fd.h"

namespace memgraft::placement {

// A command's process, which waits before its exec until release(). If we end before that, so does it.
class Child {
 public:
  // `environment`: NAME=VALUE, set besides ours. Signals are as they were when we started, `mask` blocked.
  Child(std::vector<std::string> command, std::vector<std::string> environment, const sigset_t& mask);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&&) = delete;
  Child& operator=(Child&&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }  // -1: the system has no process left
  // Lets it exec; 0, or errno of that.
  int release();
  // Waits for its end: its exit code, 128 + the signal that ended it.
  int wait();

 private:
  pid_t pid_ = -1;
  linux_os::OwnedFd gate_;
  linux_os::OwnedFd failure_;
  std::optional<int> exit_code_;
};

// Readable when the process has ended (pidfd_open(2)); -1 where there is none such.
linux_os::OwnedFd end_of(pid_t process);

}  // namespace memgraft::placement
