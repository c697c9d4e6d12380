#include "clocks/program_clock.h"

#include <ctime>

namespace memgraft::hotspot {

namespace {

double read_clock(clockid_t clock) {
  constexpr double kSecondsPerNanosecond = 1e-9;
  timespec time{};
  // Cannot fail for the two clocks used here (clock_gettime(2)).
  (void)clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + (static_cast<double>(time.tv_nsec) * kSecondsPerNanosecond);
}

double seconds_of(const linux_os::ThreadTimes& times, ThreadOwner owner) {
  return to_seconds(times.time.at(static_cast<std::size_t>(owner)));
}

}  // namespace

ProgramClock::Reading ProgramClock::read() {
  Reading reading;
  reading.wall_seconds = read_clock(CLOCK_MONOTONIC);
  if (const auto times = watch_.read()) {
    reading.process_cpu_seconds = to_seconds(times->process) - seconds_of(*times, ThreadOwner::kMemgraft);
    reading.program_cpu_seconds = seconds_of(*times, ThreadOwner::kProgram);
  } else {
    // Without /proc nobody's time can be told apart.
    reading.process_cpu_seconds = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    reading.program_cpu_seconds = reading.process_cpu_seconds;
  }
  return reading;
}

}  // namespace memgraft::hotspot
