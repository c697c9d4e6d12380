#include "helper.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <ctime>

#include "futex.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace memgraft::zeroing::ahead {
namespace {

// What the helper's few calls need, next to what the C library takes from a stack for itself and for the
// thread-local variables of all loaded libraries (pthread_attr_setstacksize(3)).
constexpr std::size_t kStackBytes = std::size_t{256} << 10;

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

std::uint64_t read_cycles() {
#ifdef __x86_64__
  return __rdtsc();
#else
  timespec time{};
  (void)clock_gettime(CLOCK_MONOTONIC, &time);  // cannot fail for this clock (clock_gettime(2))
  return static_cast<std::uint64_t>(time.tv_sec) * kNanosecondsPerSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
#endif
}

// relaxed: one writer, and readers take each count by itself
void add(std::atomic<std::uint64_t>& count, std::uint64_t more) {
  count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace

int Helper::start() {
  pthread_attr_t attributes;
  if (const int error = pthread_attr_init(&attributes); error != 0) {
    return error;
  }
  // A size that this system finds too small leaves its default.
  (void)pthread_attr_setstacksize(&attributes, kStackBytes);
  // The program's signals are for the program's threads: the new thread inherits this mask.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread_, &attributes, run, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error == 0) {
    (void)pthread_setname_np(thread_,
                             "memgraft-zero");  // for people who look at the threads; 15 bytes at most
    control_.helper_runs.store(true, std::memory_order_relaxed);  // relaxed: read by who opens, later
  }
  return error;
}

void Helper::stop() {
  control_.stop.store(true, std::memory_order_relaxed);   // relaxed: the next line publishes it
  control_.wake.fetch_add(1, std::memory_order_release);  // release: pairs with the helper's load
  futex_wake_all(control_.wake);
  pthread_join(thread_, nullptr);
}

std::uint64_t Helper::cpu_time() const {
  clockid_t clock = 0;
  timespec time{};
  if (pthread_getcpuclockid(thread_, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return 0;
  }
  return static_cast<std::uint64_t>(time.tv_sec) * kNanosecondsPerSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void* Helper::run(void* helper) {
  static_cast<Helper*>(helper)->run();
  return nullptr;
}

void Helper::run() {
  // The C library registers each thread's area or none's. Should that ever be otherwise, nobody could make
  // this thread let go of a block, so that it must not begin one.
  const bool able = machine_.begin();
  while (true) {
    const std::uint32_t seen = control_.wake.load(std::memory_order_acquire);  // acquire: what to do
    if (control_.stop.load(std::memory_order_relaxed)) {  // relaxed: acquired with `wake`
      return;
    }
    const Value work = control_.work.load(std::memory_order_acquire);  // acquire: where the region lies
    if (able && phase_of(work) == Phase::open) {
      zero_region(generation_of(work));
    }
    futex_wait(control_.wake, seen);
  }
}

void Helper::zero_region(Generation generation) {
  // acquire, all: who finds one that was changed since `work` was read finds `work` changed below. Without
  // that, one region's begin and another's end would send pass() beyond the words of its blocks.
  Region region;
  region.begin = control_.begin.load(std::memory_order_acquire);
  region.end = control_.end.load(std::memory_order_acquire);
  region.blocks = control_.blocks.load(std::memory_order_acquire);
  region.block_shift = block_shift_;
  // relaxed: ordered by those before it; the helper alone makes it anything but open in this generation
  if (control_.work.load(std::memory_order_relaxed) != value_of(generation, Phase::open)) {
    return;
  }
  machine_.look_at(region);
  lead_ = 1;
  while (pass(region, generation)) {
  }
}

// Once over the region. Whether another may find more to do: this one zeroed something, and left something.
bool Helper::pass(const Region& region, Generation generation) {
  bool zeroed = false;
  bool left = false;
  std::size_t index = 0;
  while (index < region.block_count()) {
    // relaxed: only a hint, help() looks again
    const Value seen = region.blocks[index].load(std::memory_order_relaxed);
    if (seen == value_of(generation, Block::zeroed)) {
      ++index;
      continue;
    }
    const Helped helped =
        is_dirty(seen, generation) ? zero_block(region, generation, index) : Helped::overtaken;
    switch (helped) {
      case Helped::closed:
        return false;
      case Helped::zeroed:
        zeroed = true;
        ++index;
        break;
      case Helped::overtaken: {
        const std::size_t next = leave_to_takers(region, generation, index);
        left = left || next > index;
        index = next;
      }
    }
  }
  return zeroed && left;
}

Helped Helper::zero_block(const Region& region, Generation generation, std::size_t index) {
  const std::uint64_t start = read_cycles();
  const Helped helped = protocol_.help(region.blocks[index], generation, index, machine_.pieces(index));
  add(counts_.cycles, read_cycles() - start);
  if (helped == Helped::zeroed) {
    add(counts_.bytes, static_cast<std::uint64_t>(region.block_end(index) - region.block_begin(index)));
  }
  return helped;
}

// Where to go on after meeting a block that is somebody's: beyond all that follow it and are somebody's too,
// and then some further. Right at the heels of threads that allocate faster than this one zeroes, it would
// lose every block; so each time it leaves them twice as many.
std::size_t Helper::leave_to_takers(const Region& region, Generation generation, std::size_t index) {
  const std::size_t count = region.block_count();
  std::size_t next = index;
  // relaxed: only a hint, as above
  for (; next < count; ++next) {
    const Value seen = region.blocks[next].load(std::memory_order_relaxed);
    if (is_dirty(seen, generation) || block_of(seen) == Block::zeroed) {
      break;
    }
  }
  const std::size_t left = std::min(lead_, count - next);
  add(counts_.overtaken, 1);
  add(counts_.blocks_skipped, left);
  lead_ *= 2;
  return next + left;
}

}  // namespace memgraft::zeroing::ahead
