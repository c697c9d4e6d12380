// Calls around threads and processes: stacks are never guarded, nor pages on which threads wait, as the
// kernel looks at these when it likes. The C library blocks all signals in the midst of some calls, and some
// pass the program's memory to the kernel: nothing is guarded then.
#include <semaphore.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "sampler.h"

namespace memgraft::observation {
namespace {

struct Begin {
  void* (*function)(void*);
  void* argument;
  bool segv_blocked;
};

void count_beginning(int more) {
  const Locked locked;
  g_state.beginning_threads += static_cast<unsigned>(more);
}

void* thread_begin(void* passed) {
  const Begin begin = *static_cast<Begin*>(passed);
  std::free(passed);  // NOLINT(cppcoreguidelines-no-malloc)
  t_segv_blocked = begin.segv_blocked;
  never_guard_own_stack();
  count_beginning(-1);
  return begin.function(begin.argument);
}

int create_thread(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                  void* argument) {
  static const auto real = next(&::pthread_create, "pthread_create");
  if (!active()) {
    return real(thread, attributes, function, argument);
  }
  auto* const begin = static_cast<Begin*>(std::malloc(sizeof(Begin)));  // NOLINT(cppcoreguidelines-no-malloc)
  if (begin == nullptr) {
    return EAGAIN;
  }
  *begin = {.function = function, .argument = argument, .segv_blocked = t_segv_blocked};
  const Held held_thread(thread, sizeof(pthread_t));
  const Held held_attributes(attributes, sizeof(pthread_attr_t));
  count_beginning(1);
  const int failed = real(thread, attributes, thread_begin, begin);
  if (failed != 0) {
    count_beginning(-1);
    std::free(begin);  // NOLINT(cppcoreguidelines-no-malloc)
  }
  return failed;
}

// For calls that may not return, or late: their begin is what matters.
class CalmAtFirst {
 public:
  CalmAtFirst() {
    calm_for_seconds(1);
    until_ = g_state.calm_until.load(std::memory_order_relaxed);
  }
  // Where it returned, unless another thread wants calm by now.
  ~CalmAtFirst() { g_state.calm_until.compare_exchange_strong(until_, 0, std::memory_order_relaxed); }
  CalmAtFirst(const CalmAtFirst&) = delete;
  CalmAtFirst& operator=(const CalmAtFirst&) = delete;
  CalmAtFirst(CalmAtFirst&&) = delete;
  CalmAtFirst& operator=(CalmAtFirst&&) = delete;

 private:
  std::uint64_t until_ = 0;
};

}  // namespace
}  // namespace memgraft::observation

namespace ours = memgraft::observation;
using ours::next;

MEMGRAFT_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                   void* (*function)(void*), void* argument) {
  return ours::create_thread(thread, attributes, function, argument);
}

// The version that glibc has had since 2003; an older one is there, too, and would be found first.
#ifdef __x86_64__
#define MEMGRAFT_CONDITION_VERSION "GLIBC_2.3.2"
#else
#define MEMGRAFT_CONDITION_VERSION nullptr
#endif
#define MEMGRAFT_WAITING(function, version, object, ...)          \
  static const auto real = next(&::function, #function, version); \
  ours::never_guard_futex(object);                                \
  return real(__VA_ARGS__)

MEMGRAFT_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  ours::never_guard_futex(mutex);
  MEMGRAFT_WAITING(pthread_cond_wait, MEMGRAFT_CONDITION_VERSION, condition, condition, mutex);
}
MEMGRAFT_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                           const timespec* until) {
  ours::never_guard_futex(mutex);
  MEMGRAFT_WAITING(pthread_cond_timedwait, MEMGRAFT_CONDITION_VERSION, condition, condition, mutex, until);
}
MEMGRAFT_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                           const timespec* until) {
  ours::never_guard_futex(mutex);
  MEMGRAFT_WAITING(pthread_cond_clockwait, nullptr, condition, condition, mutex, clock, until);
}
MEMGRAFT_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) {
  MEMGRAFT_WAITING(pthread_mutex_lock, nullptr, mutex, mutex);
}
MEMGRAFT_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  MEMGRAFT_WAITING(pthread_mutex_timedlock, nullptr, mutex, mutex, until);
}
MEMGRAFT_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) {
  MEMGRAFT_WAITING(pthread_barrier_wait, nullptr, barrier, barrier);
}
MEMGRAFT_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  MEMGRAFT_WAITING(pthread_rwlock_rdlock, nullptr, lock, lock);
}
MEMGRAFT_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  MEMGRAFT_WAITING(pthread_rwlock_wrlock, nullptr, lock, lock);
}
MEMGRAFT_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) {
  MEMGRAFT_WAITING(pthread_rwlock_timedrdlock, nullptr, lock, lock, until);
}
MEMGRAFT_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) {
  MEMGRAFT_WAITING(pthread_rwlock_timedwrlock, nullptr, lock, lock, until);
}
MEMGRAFT_EXPORT int pthread_once(pthread_once_t* once, void (*function)()) {
  MEMGRAFT_WAITING(pthread_once, nullptr, once, once, function);
}
MEMGRAFT_EXPORT int sem_wait(sem_t* semaphore) { MEMGRAFT_WAITING(sem_wait, nullptr, semaphore, semaphore); }
MEMGRAFT_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* until) {
  MEMGRAFT_WAITING(sem_timedwait, nullptr, semaphore, semaphore, until);
}
MEMGRAFT_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  MEMGRAFT_WAITING(sem_clockwait, nullptr, semaphore, semaphore, clock, until);
}
// std::atomic::wait and others' locks.
MEMGRAFT_EXPORT long syscall(long number, ...) {
  static const auto real = next(&::syscall, "syscall");
  va_list more;
  va_start(more, number);
  long a[6];
  for (long& argument : a) {
    argument = va_arg(more, long);
  }
  va_end(more);
  if (number == SYS_futex) {
    ours::never_guard_futex(reinterpret_cast<const void*>(a[0]));
  }
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// exec and its kin: does not return where it succeeds, and after vfork the memory is the parent's.
MEMGRAFT_EXPORT int execve(const char* program, char* const* arguments, char* const* environment) {
  static const auto real = next(&::execve, "execve");
  const ours::CalmAtFirst calm;
  return real(program, arguments, environment);
}
MEMGRAFT_EXPORT int execv(const char* program, char* const* arguments) {
  static const auto real = next(&::execv, "execv");
  const ours::CalmAtFirst calm;
  return real(program, arguments);
}
MEMGRAFT_EXPORT int execvp(const char* program, char* const* arguments) {
  static const auto real = next(&::execvp, "execvp");
  const ours::CalmAtFirst calm;
  return real(program, arguments);
}
MEMGRAFT_EXPORT int execvpe(const char* program, char* const* arguments, char* const* environment) {
  static const auto real = next(&::execvpe, "execvpe");
  const ours::CalmAtFirst calm;
  return real(program, arguments, environment);
}
MEMGRAFT_EXPORT int posix_spawn(pid_t* child, const char* program, const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const* arguments,
                                char* const* environment) {
  static const auto real = next(&::posix_spawn, "posix_spawn");
  const ours::Calm calm;
  return real(child, program, actions, attributes, arguments, environment);
}
MEMGRAFT_EXPORT int posix_spawnp(pid_t* child, const char* program, const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const* arguments,
                                 char* const* environment) {
  static const auto real = next(&::posix_spawnp, "posix_spawnp");
  const ours::Calm calm;
  return real(child, program, actions, attributes, arguments, environment);
}
MEMGRAFT_EXPORT int system(const char* command) {
  static const auto real = next(&::system, "system");
  const ours::CalmAtFirst calm;
  return real(command);
}
MEMGRAFT_EXPORT FILE* popen(const char* command, const char* mode) {
  static const auto real = next(&::popen, "popen");
  const ours::CalmAtFirst calm;
  return real(command, mode);
}
