#include "pages.h"

#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "report.h"

static bool main_touches;
static int64_t allocated;

void pages_touched_by_main(bool by_main) { main_touches = by_main; }

int64_t pages_bytes(void) { return allocated; }

static void touch(volatile char* memory, int64_t first, int64_t end, int64_t page) {
  for (int64_t at = first * page; at < end * page; at += page) {
    memory[at] = 0;
  }
}

// All lie from here on, where nothing else of a process is, nor of ASan's: an emulator that counts accesses
// tells those of kernels from others by it (memgraft/paper/counted.py). Where it is not free Linux takes
// another place.
static uintptr_t next_begin = 0x200000000000;

// Wider than a stack's, so that what looks at a process's mappings does not take the next array for one.
static const int64_t guard_bytes = 128 << 10;

// Behind what was asked for: reading or writing a page too far ends the process, and a byte too far where
// AddressSanitizer looks.
static void guard(char* memory, int64_t bytes, int64_t pages, int64_t page) {
  (void)mprotect(memory + pages * page, (size_t)guard_bytes, PROT_NONE);
#ifdef __SANITIZE_ADDRESS__
  ASAN_POISON_MEMORY_REGION(memory + bytes, (size_t)(pages * page - bytes));
#else
  (void)bytes;
#endif
}

void* pages_allocate(int64_t count, size_t size) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t bytes = count * (int64_t)size;
  const int64_t pages = (bytes + page - 1) / page;
  // Without guards, arrays lie in one piece, as in the NAS programs: samplers leave small pieces out.
  const int64_t mapped = pages * page + (main_touches ? 0 : guard_bytes);
  char* memory =
      mmap((void*)next_begin, (size_t)mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    fprintf(stderr, "memgraft-kernels: no memory for %lld bytes (%s); choose a smaller class\n",
            (long long)bytes, strerror(errno));
    exit(code_lacking);
  }
  next_begin += (uintptr_t)mapped;
  allocated += pages * page;
  if (main_touches) {
    touch(memory, 0, pages, page);
  } else {
#pragma omp parallel
    {
      const int64_t thread = omp_get_thread_num();
      const int64_t threads = omp_get_num_threads();
      touch(memory, pages * thread / threads, pages * (thread + 1) / threads, page);
    }
  }
  if (!main_touches) {
    guard(memory, bytes, pages, page);
  }
  return memory;
}
