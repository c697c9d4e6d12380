#include "clocks/clocks.h"

#include <ctime>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace memgraft::hotspot {

namespace {

constexpr double kNanosecondsPerSecond = 1e9;

Nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  // Cannot fail for the two clocks used here (clock_gettime(2)).
  (void)clock_gettime(clock, &time);
  return Nanoseconds((static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U) +
                     static_cast<std::uint64_t>(time.tv_nsec));
}

}  // namespace

Cycles read_cycles() {
#ifdef __x86_64__
  return Cycles(__rdtsc());
#else
  return Cycles(read_clock(CLOCK_MONOTONIC).count());
#endif
}

Nanoseconds thread_cpu_time() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

CycleRate::CycleRate() : start_cycles_(read_cycles()), start_time_(read_clock(CLOCK_MONOTONIC)) {}

double CycleRate::per_nanosecond() const {
  const auto cycles = static_cast<double>((read_cycles() - start_cycles_).count());
  const auto time = static_cast<double>((read_clock(CLOCK_MONOTONIC) - start_time_).count());
  return cycles / time;
}

double WorkTimer::seconds(double cycles_per_nanosecond) const {
  const auto short_cycles = static_cast<double>(short_cycles_.load(std::memory_order_relaxed));
  const auto long_nanoseconds = static_cast<double>(long_nanoseconds_.load(std::memory_order_relaxed));
  return ((short_cycles / cycles_per_nanosecond) + long_nanoseconds) / kNanosecondsPerSecond;
}

double WorkTimer::cycles(double cycles_per_nanosecond) const {
  return seconds(cycles_per_nanosecond) * kNanosecondsPerSecond * cycles_per_nanosecond;
}

}  // namespace memgraft::hotspot
