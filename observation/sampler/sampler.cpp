#include "sampler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <utility>

namespace memgraft::observation {

constinit State g_state{};
thread_local bool t_segv_blocked = false;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// Under the lock.
void release_page(std::uintptr_t page) {
  // It fails where there is no memory any more, which is as well.
  g_state.mprotect(reinterpret_cast<void*>(page), g_state.page_bytes, PROT_READ | PROT_WRITE);
  g_state.guarded.erase(page);
}

// Under the lock.
void no_candidates() {
  for (auto& candidate : g_state.candidates[g_state.newest]) {
    candidate.live = false;
  }
  g_state.all_changed = true;
}

Range range_of(const void* start, std::size_t bytes) {
  const std::uintptr_t begin = address_of(start);
  const std::uintptr_t most = UINTPTR_MAX - g_state.page_bytes;
  return {.begin = begin, .end = bytes > most - begin ? most : begin + bytes};
}

}  // namespace

void SpinLock::lock() {
  for (unsigned spins = 0; held_.test_and_set(std::memory_order_acquire); ++spins) {
    if (spins > 64) {
      sched_yield();  // its holder may wait for this CPU
    }
  }
}

void* find_next(const char* name, const char* version) {
  void* found = version == nullptr ? nullptr : dlvsym(RTLD_NEXT, name, version);
  found = found == nullptr ? dlsym(RTLD_NEXT, name) : found;
  if (found == nullptr) {
    std::abort();  // called by the program, so that it must be there
  }
  return found;
}

std::uint64_t now_nanoseconds(clockid_t clock) {
  timespec now{};
  static_cast<void>(clock_gettime(clock, &now));
  return static_cast<std::uint64_t>(now.tv_sec) * kSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

Locked::Locked() : before_(), errno_(errno) {
  sigset_t all;
  sigfillset(&all);
  g_state.change_mask(SIG_SETMASK, &all, &before_);
  g_state.lock.lock();
}

Locked::~Locked() {
  g_state.lock.unlock();
  g_state.change_mask(SIG_SETMASK, &before_, nullptr);
  errno = errno_;
}

namespace {

// Under the lock, for each guarded page of the range; the function takes it out.
template <typename Function>
void for_guarded(Range range, Function function) {
  if (g_state.guarded.size() == 0) {
    return;
  }
  if ((range.end - range.begin) / g_state.page_bytes < 64) {
    for (std::uintptr_t page = page_of(range.begin); page < range.end; page += g_state.page_bytes) {
      if (g_state.guarded.has(page)) {
        function(page);
      }
    }
    return;
  }
  // Taking one out moves others: collected first.
  static constinit std::uintptr_t found[kMostGuarded];  // under the lock, as all of it
  std::size_t count = 0;
  g_state.guarded.for_each([&](std::uintptr_t page) {
    if (page + g_state.page_bytes > range.begin && page < range.end) {
      found[count++] = page;
    }
  });
  for (std::size_t i = 0; i < count; ++i) {
    function(found[i]);
  }
}

}  // namespace

void release(Range range) { for_guarded(range, release_page); }

void forget(Range range) {
  for_guarded(range, [](std::uintptr_t page) { g_state.guarded.erase(page); });
}

void release_all() {
  release({0, UINTPTR_MAX - g_state.page_bytes});
  no_candidates();
}

Held::Held(const void* start, std::size_t bytes) {
  if (!active() || start == nullptr || bytes == 0) {
    return;
  }
  const Range range = range_of(start, bytes);
  const Locked locked;
  release(range);
  for (std::size_t slot = 0; slot < kMostHeld; ++slot) {
    if (g_state.held[slot].end == 0) {
      g_state.held[slot] = range;
      slot_ = static_cast<int>(slot);
      return;
    }
  }
  slot_ = kCalm;
  g_state.calm.fetch_add(1, std::memory_order_relaxed);
  release_all();
}

Held::~Held() {
  if (slot_ == kNone) {
    return;
  }
  const Locked locked;
  if (slot_ == kCalm) {
    g_state.calm.fetch_sub(1, std::memory_order_relaxed);
  } else {
    g_state.held[slot_] = {};
  }
}

void mark_changed(Range range) {
  for (auto& candidate : g_state.candidates[g_state.newest]) {
    candidate.live = candidate.live && !candidate.range.overlaps(range);
  }
  if (g_state.changed_count < kMostChanged) {
    g_state.changed[g_state.changed_count++] = range;
  } else {
    g_state.all_changed = true;
  }
}

Changing::Changing(const void* start, std::size_t bytes) : held_(start, bytes), range_() {
  if (active() && start != nullptr && bytes != 0) {
    range_ = range_of(start, bytes);
  }
}

Changing::~Changing() {
  if (range_.end != 0) {
    const Locked locked;
    mark_changed(range_);
  }
}

Calm::Calm() {
  if (g_state.shared.load(std::memory_order_relaxed) != nullptr) {
    const Locked locked;
    g_state.calm.fetch_add(1, std::memory_order_relaxed);
    release_all();
  }
}

Calm::~Calm() {
  if (g_state.shared.load(std::memory_order_relaxed) != nullptr) {
    g_state.calm.fetch_sub(1, std::memory_order_relaxed);
  }
}

void calm_for_seconds(unsigned seconds) {
  if (active()) {
    const Locked locked;
    g_state.calm_until.store(now_nanoseconds() + seconds * kSecond, std::memory_order_relaxed);
    release_all();
  }
}

void never_guard(Range range) {
  if (g_state.shared.load(std::memory_order_relaxed) == nullptr) {
    return;
  }
  bool full = false;
  {
    const Locked locked;
    release(range);
    mark_changed(range);
    std::size_t kept = 0;
    bool known = false;
    for (std::size_t i = 0; i < g_state.stack_count; ++i) {
      const Range other = g_state.stacks[i];
      known = known || other.contains(range);
      // Of a thread that is gone, where another's lies now.
      if (!range.contains(other) || other.contains(range)) {
        g_state.stacks[kept++] = other;
      }
    }
    g_state.stack_count = kept;
    full = !known && kept == kMostStacks;
    if (!known && !full) {
      g_state.stacks[g_state.stack_count++] = range;
    }
  }
  if (full) {
    stop(Standing::many_threads);
  }
}

void never_guard_own_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* stack = nullptr;
    std::size_t bytes = 0;
    pthread_attr_getstack(&attributes, &stack, &bytes);
    pthread_attr_destroy(&attributes);
    never_guard({.begin = address_of(stack), .end = address_of(stack) + bytes});
  }
}

void never_guard_futex(const void* object) {
  const std::uintptr_t page = page_of(address_of(object));
  if (!active() || g_state.futexes.has(page)) {
    return;
  }
  bool full = false;
  {
    const Locked locked;
    full = !g_state.futexes.insert(page, 0);
    release({.begin = page, .end = page + 1});
  }
  if (full) {
    stop(Standing::many_threads);
  }
}

void stop(Standing standing) {
  const Locked locked;
  if (!g_state.active.exchange(false)) {
    return;
  }
  release_all();
  g_state.shared.load()->standing.store(static_cast<std::uint32_t>(standing), std::memory_order_relaxed);
  if (standing == Standing::jvm) {
    g_state.sigaction(SIGSEGV, &g_state.program, nullptr);
    g_state.virtual_signals = false;
  }
}

namespace {

// The asking process's memory, if this is the process that it is for.
Shared* claim() {
  const char* const variable = std::getenv(kRingVariable);  // NOLINT(concurrency-mt-unsafe): before main
  if (variable == nullptr) {
    return nullptr;
  }
  char* rest = nullptr;
  const long fd = std::strtol(variable, &rest, 10);
  struct stat what{};
  if (rest == variable || *rest != 0 || fd < 0 || fd > INT32_MAX || fstat(static_cast<int>(fd), &what) != 0 ||
      !S_ISREG(what.st_mode) || std::cmp_not_equal(what.st_size, sizeof(Shared))) {
    return nullptr;
  }
  void* const at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(fd), 0);
  if (at == MAP_FAILED) {
    return nullptr;
  }
  auto* const shared = static_cast<Shared*>(at);
  const auto self = static_cast<std::uint32_t>(getpid());
  std::uint32_t owner = 0;
  // Its own already: the same process before it called exec.
  if (shared->magic == kRingMagic && shared->bytes == sizeof(Shared) &&
      (shared->claimed_by.compare_exchange_strong(owner, self) || owner == self)) {
    return shared;
  }
  munmap(at, sizeof(Shared));
  return nullptr;
}

void before_fork() {
  if (g_state.shared.load() == nullptr) {
    return;
  }
  g_state.calm.fetch_add(1, std::memory_order_relaxed);
  const Locked locked;
  release_all();
}

void after_fork_in_parent() {
  if (g_state.shared.load() != nullptr) {
    g_state.calm.fetch_sub(1, std::memory_order_relaxed);
  }
}

// Nothing is guarded in the child, and nobody samples it.
void after_fork_in_child() {
  if (g_state.shared.load() != nullptr) {
    g_state.lock.unlock();  // another thread of the parent may have held it
    g_state.active = false;
    g_state.shared = nullptr;
    g_state.sigaction(SIGSEGV, &g_state.program, nullptr);
    g_state.virtual_signals = false;
    if (t_segv_blocked) {
      sigset_t segv;
      sigemptyset(&segv);
      sigaddset(&segv, SIGSEGV);
      g_state.change_mask(SIG_BLOCK, &segv, nullptr);
    }
  }
}

__attribute__((constructor)) void begin() {
  g_state.page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  g_state.mprotect = next(&::mprotect, "mprotect");
  g_state.sigaction = next(&::sigaction, "sigaction");
  g_state.change_mask = next(&::pthread_sigmask, "pthread_sigmask");
  g_state.create = next(&::pthread_create, "pthread_create");
  g_state.read = next(&::read, "read");
  Shared* const shared = claim();
  if (shared == nullptr) {
    return;
  }
  g_state.process = getpid();
  g_state.shared = shared;
  never_guard({.begin = address_of(&g_state), .end = address_of(&g_state) + sizeof(State)});
  // The main thread's control block: the kernel writes into its rseq area at any time.
  const std::uintptr_t control = address_of(__builtin_thread_pointer());
  never_guard({.begin = page_of(control - 65536), .end = page_of(control + 65536)});
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  install_handler();
  sigset_t segv;
  sigset_t before;
  sigemptyset(&segv);
  sigaddset(&segv, SIGSEGV);
  g_state.change_mask(SIG_UNBLOCK, &segv, &before);
  t_segv_blocked = sigismember(&before, SIGSEGV) == 1;

  g_state.active = true;
  sigset_t all;
  sigfillset(&all);
  g_state.change_mask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const int failed = g_state.create(&thread, nullptr, sample, nullptr);
  g_state.change_mask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) {
    stop(Standing::no_thread);
    return;
  }
  pthread_detach(thread);
}

__attribute__((destructor)) void end() {
  if (g_state.shared.load() != nullptr && g_state.process == getpid()) {
    stop(Standing::stopped);
  }
}

}  // namespace
}  // namespace memgraft::observation
