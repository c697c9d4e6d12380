// Zeroing with a planted effect: non-temporal is the same kernel as bulk, and then burns 3 % of the CPU time
// that its thread has used since it last zeroed. An agent built with it shows whether a comparison finds 3 %.
#include <cstddef>
#include <cstring>
#include <ctime>

#include "memgraft/zeroing.h"

namespace {

constexpr double kPlanted = 0.03;

thread_local double counted_seconds = 0;

double thread_cpu_seconds() {
  constexpr double kSecondsPerNanosecond = 1e-9;
  timespec time{};
  // Cannot fail for this clock (clock_gettime(2)).
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + (static_cast<double>(time.tv_nsec) * kSecondsPerNanosecond);
}

void zero(void* memory, std::size_t bytes) {
  std::memset(memory, 0, bytes);
  counted_seconds = thread_cpu_seconds();
}

void zero_slowly(void* memory, std::size_t bytes) {
  const double used = thread_cpu_seconds() - counted_seconds;
  std::memset(memory, 0, bytes);
  const double until = thread_cpu_seconds() + (kPlanted * used);
  while (thread_cpu_seconds() < until) {
  }
  counted_seconds = thread_cpu_seconds();
}

constexpr memgraft_zero_kernel kPlain{.name = "plain",
                                      .description = "memset",
                                      .stores = MEMGRAFT_ZERO_ORDINARY,
                                      .width = 0,
                                      .available = true,
                                      .zero = zero};
constexpr memgraft_zero_kernel kSlowed{.name = "slowed",
                                       .description = "memset, and 3 % of the thread's CPU time",
                                       .stores = MEMGRAFT_ZERO_NON_TEMPORAL,
                                       .width = 0,
                                       .available = true,
                                       .zero = zero_slowly};

}  // namespace

const memgraft_zero_kernel* memgraft_zero_chosen(enum memgraft_zero_stores stores) {
  return stores == MEMGRAFT_ZERO_ORDINARY ? &kPlain : &kSlowed;
}

const memgraft_zero_kernel* memgraft_zero_best(enum memgraft_zero_use /*use*/, std::size_t /*bytes*/,
                                               unsigned /*threads*/) {
  return &kPlain;
}

bool memgraft_zero_load_table(const char* /*path*/, char* /*error*/, std::size_t /*error_bytes*/) {
  return true;
}
