// Calls by which the program changes its own mappings: what they find is the program's own protection, and
// afterwards nothing of ours is left in the range. What malloc and free do inside the C library passes by
// here unseen: rounds.cpp looks at the mappings before it touches any again.
#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdarg>
#include <cstring>

#include "sampler.h"

namespace memgraft::observation {
namespace {

template <typename Real>
void* map(Real real, void* start, std::size_t bytes, int protection, int flags, int fd, off64_t offset) {
  if (!active()) {
    return real(start, bytes, protection, flags, fd, offset);
  }
  if ((static_cast<unsigned>(flags) & MAP_FIXED) != 0) {
    const Changing changing(start, bytes);
    return real(start, bytes, protection, flags, fd, offset);
  }
  // It takes long, and the pages are what they were made, accessible or not.
  if ((static_cast<unsigned>(flags) & (MAP_POPULATE | MAP_LOCKED)) != 0) {
    const Calm calm;
    return real(start, bytes, protection, flags, fd, offset);
  }
  // Under the lock: nothing is to be made accessible that is something else by now.
  int failed = 0;
  void* made = MAP_FAILED;
  {
    const Locked locked;
    made = real(start, bytes, protection, flags, fd, offset);
    failed = errno;
    if (made != MAP_FAILED) {
      const Range range{.begin = address_of(made), .end = address_of(made) + bytes};
      forget(range);
      mark_changed(range);
    }
  }
  if (made == MAP_FAILED) {
    errno = failed;
  }
  return made;
}

}  // namespace
}  // namespace memgraft::observation

using memgraft::observation::Calm;
using memgraft::observation::Changing;
using memgraft::observation::Held;
using memgraft::observation::next;

MEMGRAFT_EXPORT void* mmap(void* start, size_t bytes, int protection, int flags, int fd, off_t offset) {
  static const auto real = next(&::mmap, "mmap");
  return memgraft::observation::map(real, start, bytes, protection, flags, fd, offset);
}
MEMGRAFT_EXPORT void* mmap64(void* start, size_t bytes, int protection, int flags, int fd, off64_t offset) {
  static const auto real = next(&::mmap64, "mmap64");
  return memgraft::observation::map(real, start, bytes, protection, flags, fd, offset);
}
MEMGRAFT_EXPORT int munmap(void* start, size_t bytes) {
  static const auto real = next(&::munmap, "munmap");
  const Changing changing(start, bytes);
  return real(start, bytes);
}
MEMGRAFT_EXPORT int mprotect(void* start, size_t bytes, int protection) {
  static const auto real = next(&::mprotect, "mprotect");
  const Changing changing(start, bytes);
  return real(start, bytes, protection);
}
MEMGRAFT_EXPORT int pkey_mprotect(void* start, size_t bytes, int protection, int key) {
  static const auto real = next(&::pkey_mprotect, "pkey_mprotect");
  const Changing changing(start, bytes);
  return real(start, bytes, protection, key);
}
// Fails where the range lies in several mappings, as our pages would make it.
MEMGRAFT_EXPORT void* mremap(void* start, size_t bytes, size_t wanted, int flags, ...) {
  static const auto real = next(&::mremap, "mremap");
  va_list more;
  va_start(more, flags);
  void* const target = (static_cast<unsigned>(flags) & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
  va_end(more);
  const Changing changing(start, bytes);
  const Changing changing_target(target, wanted);
  return real(start, bytes, wanted, flags, target);
}
MEMGRAFT_EXPORT int madvise(void* start, size_t bytes, int advice) {
  static const auto real = next(&::madvise, "madvise");
  const Held held(start, bytes);
  return real(start, bytes, advice);
}
// These fail at pages that are not accessible.
MEMGRAFT_EXPORT int mlock(const void* start, size_t bytes) {
  static const auto real = next(&::mlock, "mlock");
  const Held held(start, bytes);
  return real(start, bytes);
}
MEMGRAFT_EXPORT int mlock2(const void* start, size_t bytes, unsigned flags) {
  static const auto real = next(&::mlock2, "mlock2");
  const Held held(start, bytes);
  return real(start, bytes, flags);
}
MEMGRAFT_EXPORT int mlockall(int flags) {
  static const auto real = next(&::mlockall, "mlockall");
  const Calm calm;
  return real(flags);
}
// HotSpot takes SIGSEGV for itself: nothing of ours may be left when it begins. The loader maps what it loads
// without our seeing it.
MEMGRAFT_EXPORT void* dlopen(const char* name, int flags) {
  static const auto real = next(&::dlopen, "dlopen");
  if (name != nullptr && std::strstr(name, "libjvm.so") != nullptr) {
    memgraft::observation::stop(memgraft::observation::Standing::jvm);
  }
  memgraft::observation::calm_for_seconds(1);
  return real(name, flags);
}
