#include "clocks/program_clock.h"

#include <cstdint>
#include <ctime>

namespace memgraft::hotspot {

namespace {

Nanoseconds read_clock(clockid_t clock) {
  constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
  timespec time{};
  // Cannot fail for the two clocks used here (clock_gettime(2)).
  (void)clock_gettime(clock, &time);
  return Nanoseconds((static_cast<std::uint64_t>(time.tv_sec) * kNanosecondsPerSecond) +
                     static_cast<std::uint64_t>(time.tv_nsec));
}

double seconds_of(const linux_os::ThreadTimes& times, ThreadOwner owner) {
  return to_seconds(times.time.at(static_cast<std::size_t>(owner)));
}

}  // namespace

ProgramClock::Reading ProgramClock::read() {
  Reading reading;
  reading.wall_seconds = to_seconds(read_clock(CLOCK_MONOTONIC));
  if (const auto times = watch_.read()) {
    reading.process_cpu_seconds = to_seconds(times->process) - seconds_of(*times, ThreadOwner::memgraft);
    reading.program_cpu_seconds = seconds_of(*times, ThreadOwner::program);
  } else {
    // Without /proc nobody's time can be told apart.
    reading.process_cpu_seconds = to_seconds(read_clock(CLOCK_PROCESS_CPUTIME_ID));
    reading.program_cpu_seconds = reading.process_cpu_seconds;
  }
  return reading;
}

double ProgramClock::idle_cpus() { return idle_.now(read_clock(CLOCK_MONOTONIC)).value_or(cpus()); }

}  // namespace memgraft::hotspot
