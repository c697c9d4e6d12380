// On which CPU the sampling thread is. A thread that has its CPU with that one comes late to all that is
// guarded meanwhile: so it is not always the same thread's.
#pragma once

#include <dirent.h>
#include <sched.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace memgraft::observation {

// The CPUs that the process's threads may use but for the calling one. That may have inherited one thread's
// alone: OpenMP binds the first thread before any library that is preloaded begins.
inline cpu_set_t cpus_of_other_threads() {
  cpu_set_t all;
  CPU_ZERO(&all);
  DIR* const folder = opendir("/proc/self/task");
  if (folder == nullptr) {
    return all;
  }
  while (const dirent* entry = readdir(folder)) {
    const auto thread = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    cpu_set_t mask;
    if (thread > 0 && thread != gettid() && sched_getaffinity(thread, sizeof(mask), &mask) == 0) {
      CPU_OR(&all, &all, &mask);
    }
  }
  closedir(folder);
  return all;
}

class Turns {
 public:
  // Takes the calling thread to the next CPU that others of its process may use, unless somebody else bound
  // it.
  void next() {
    cpu_set_t now;
    if (sched_getaffinity(0, sizeof(now), &now) != 0) {
      return;  // more CPUs than fit: it stays where the kernel has it
    }
    if (CPU_COUNT(&chosen_) != 0 && CPU_EQUAL(&now, &chosen_) == 0) {
      return;
    }
    if (turn_++ % kLooks == 0) {
      allowed_ = cpus_of_other_threads();
    }
    if (CPU_COUNT(&allowed_) == 0) {
      return;
    }
    do {
      at_ = (at_ + 1) % CPU_SETSIZE;
    } while (!CPU_ISSET(at_, &allowed_));
    cpu_set_t next;
    CPU_ZERO(&next);
    CPU_SET(at_, &next);
    if (sched_setaffinity(0, sizeof(next), &next) == 0) {
      chosen_ = next;
    }
  }

 private:
  static constexpr unsigned kLooks = 10;  // in so many turns threads are bound, or others begin
  cpu_set_t allowed_{};
  cpu_set_t chosen_{};
  std::size_t at_ = CPU_SETSIZE - 1;
  unsigned turn_ = 0;
};

}  // namespace memgraft::observation
