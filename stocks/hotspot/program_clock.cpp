#include "program_clock.h"

#include <ctime>
#include <sched.h>

namespace memgraft::hotspot {
namespace {
double now(clockid_t clock) {
  timespec time{};
  (void)clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
}  // namespace

ProgramClock::Reading ProgramClock::read() const {
  const double cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  return {.wall_seconds = now(CLOCK_MONOTONIC), .process_cpu_seconds = cpu, .program_cpu_seconds = cpu};
}
double ProgramClock::cpus() const {
  cpu_set_t set;
  CPU_ZERO(&set);
  (void)sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}
}  // namespace memgraft::hotspot
