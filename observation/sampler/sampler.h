// What the parts of the preloaded library share. All of its memory is in one place, which is never sampled,
// and none is allocated. `guard` below: pages of the program that are not accessible for now, so that the
// next access to them becomes a touch.
#pragma once

#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "page_set.h"
#include "shared.h"

namespace memgraft::observation {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] bool overlaps(Range other) const { return begin < other.end && other.begin < end; }
  [[nodiscard]] bool contains(Range other) const { return begin <= other.begin && other.end <= end; }
};

// Memory that may be sampled; not live: the program has changed it since it was looked at.
struct Candidate {
  Range range;
  bool live = false;
};

// A lock that a signal's handler may take: whoever holds it has blocked all signals.
class SpinLock {
 public:
  void lock();
  void unlock() { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_;
};

inline constexpr std::size_t kMostCandidates = 1024;
inline constexpr std::size_t kMostStacks = 4096;
inline constexpr std::size_t kMostHeld = 512;
inline constexpr std::size_t kMostChanged = 256;
inline constexpr std::size_t kGuardSlots = 8192;
inline constexpr std::size_t kMostGuarded = 2048;  // each splits a mapping in three; Linux allows 65530
inline constexpr std::size_t kRoundsKnown = 16;    // more than a page stays guarded
inline constexpr std::size_t kFutexSlots = 16384;

struct alignas(4096) State {
  SpinLock lock{};
  std::atomic<Shared*> shared;
  std::atomic<bool> active;           // pages may be guarded
  std::atomic<bool> virtual_signals;  // the program's action for SIGSEGV is `program`, the kernel's is ours
  pid_t process{};
  std::uintptr_t page_bytes{};

  // Under the lock.
  PageSet<kGuardSlots> guarded{};            // with the round in which each became so
  std::uint64_t guarded_at[kRoundsKnown]{};  // when pages were in a round, by its number
  std::uint64_t guardings{};                 // how often a page became so
  std::uint64_t touched{};                   // of them
  std::uintptr_t trial{};                    // a page of ours, whose touch is none of the program's
  Candidate candidates[2][kMostCandidates]{};
  unsigned newest{};  // of both
  Range stacks[kMostStacks]{};
  std::size_t stack_count{};
  Range held[kMostHeld]{};
  Range changed[kMostChanged]{};  // by the program, since the sampling thread began to read the mappings
  std::size_t changed_count{};
  bool all_changed{};            // or too much to remember
  unsigned beginning_threads{};  // whose stacks are not known yet
  struct sigaction program{};

  PageSet<kFutexSlots> futexes{};         // pages that the kernel reads at any time: never guarded
  std::atomic<int> calm;                  // scopes that want no page guarded
  std::atomic<std::uint64_t> calm_until;  // nanoseconds
  std::atomic<int> program_handlers;      // in the midst of the program's own handler
  std::atomic<std::uint64_t> program_handlers_until;

  int (*mprotect)(void*, std::size_t, int){};
  int (*sigaction)(int, const struct sigaction*, struct sigaction*){};
  int (*change_mask)(int, const sigset_t*, sigset_t*){};
  int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*){};
  ssize_t (*read)(int, void*, std::size_t){};
};

extern State g_state;

// The function that the program would have called without us.
void* find_next(const char* name, const char* version = nullptr);
template <typename Function>
Function next(Function /*ours*/, const char* name, const char* version = nullptr) {
  return reinterpret_cast<Function>(find_next(name, version));
}

std::uint64_t now_nanoseconds(clockid_t clock = CLOCK_MONOTONIC);
inline bool active() { return g_state.active.load(std::memory_order_relaxed); }
inline std::uintptr_t page_of(std::uintptr_t address) { return address & ~(g_state.page_bytes - 1); }
inline std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// The lock, outside of handlers; keeps errno.
class Locked {
 public:
  Locked();
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  Locked(Locked&&) = delete;
  Locked& operator=(Locked&&) = delete;

 private:
  sigset_t before_;
  int errno_;
};

// Under the lock: makes pages of the range, or all, accessible again.
void release(Range range);
// ... or only forgets them: something else is there now.
void forget(Range range);
void release_all();

// Under the lock: what is known of the mappings of this range is no longer so.
void mark_changed(Range range);

// While it exists, no page of this memory is guarded: for calls in which the kernel accesses it.
class Held {
 public:
  Held(const void* start, std::size_t bytes);
  ~Held();
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  Held(Held&&) = delete;
  Held& operator=(Held&&) = delete;

 private:
  static constexpr int kNone = -1;
  static constexpr int kCalm = -2;  // there was no place
  int slot_ = kNone;
};

// ... and for calls that change how it is mapped.
class Changing {
 public:
  Changing(const void* start, std::size_t bytes);
  ~Changing();
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;
  Changing(Changing&&) = delete;
  Changing& operator=(Changing&&) = delete;

 private:
  Held held_;
  Range range_;
};

// While it exists, no page is guarded.
class Calm {
 public:
  Calm();
  ~Calm();
  Calm(const Calm&) = delete;
  Calm& operator=(const Calm&) = delete;
  Calm(Calm&&) = delete;
  Calm& operator=(Calm&&) = delete;
};

// No page is guarded for so long: for calls that may never return, as exec.
void calm_for_seconds(unsigned seconds);

// Stacks and what else must not be guarded.
void never_guard(Range range);
// The stack of the calling thread.
void never_guard_own_stack();
// The page of a futex: the kernel answers EFAULT where it is not accessible, and the C library aborts then.
void never_guard_futex(const void* object);

// For good. Takes the lock.
void stop(Standing standing);

// The sampling thread's.
void* sample(void* unused);
bool retry_would_do(std::uintptr_t address, bool store);
bool handler_is_ours();
void install_handler();

// Whether the program thinks that SIGSEGV is blocked in this thread; it never is.
extern thread_local bool t_segv_blocked __attribute__((tls_model("initial-exec")));

}  // namespace memgraft::observation

// An interposed function.
#define MEMGRAFT_EXPORT extern "C" __attribute__((visibility("default")))
