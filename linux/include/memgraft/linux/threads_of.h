// Which threads a process has.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace memgraft::linux_os {

// Now, in ascending order; none where it has ended. Where threads end meanwhile others may be left out
// (the kernel's proc_task_readdir counts positions). `root` is where /proc is looked for.
std::vector<pid_t> threads_of(pid_t process, const std::string& root = "");

}  // namespace memgraft::linux_os
