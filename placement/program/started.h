// The processes that a process starts: they are not watched.
#pragma once

#include <sys/types.h>

#include <string>

namespace memgraft::placement {

struct CpuSeconds {
  double own = 0;
  double started = 0;  // of what it started, and what that started, as far as it was waited for or lives
};

// Since `process` began.
CpuSeconds cpu_seconds(pid_t process, const std::string& root);

// Between two looks. Not below zero: what ends without having been waited for is no longer found.
CpuSeconds operator-(const CpuSeconds& later, const CpuSeconds& before);

// One line if most was used by what is not watched, as by a script's programs; else empty.
std::string why_little_is_seen(const CpuSeconds& used, const std::string& program);

}  // namespace memgraft::placement
