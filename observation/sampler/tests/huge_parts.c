#include "huge_parts.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

long parts_of_huge_pages(const unsigned char* at, long pages) {
  const uint64_t frame_mask = ((uint64_t)1 << 55U) - 1;
  const uint64_t transparent_huge = (uint64_t)1 << 22U;
  const long bytes = 4096;
  const int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const int flags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
  long found = 0;
  for (long page = 0; page < pages && found >= 0; ++page) {
    uint64_t frame = 0;
    uint64_t flag = 0;
    (void)((const volatile unsigned char*)at)[page * bytes];
    const off_t entry = (off_t)((uintptr_t)(at + page * bytes) / (uintptr_t)bytes * 8);
    if (pread(map, &frame, 8, entry) != 8 || (frame & frame_mask) == 0 ||
        pread(flags, &flag, 8, (off_t)((frame & frame_mask) * 8)) != 8) {
      found = -1;
    } else if ((flag & transparent_huge) != 0) {
      ++found;
    }
  }
  close(map);
  close(flags);
  return found;
}
