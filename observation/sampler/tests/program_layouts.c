// Scenarios of the sampled program about where its memory lies.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "huge_parts.h"
#include "program.h"

// As much again, and behind a page that nobody may access.
void fenced(void) {
  unsigned char* const fence =
      mmap(NULL, kPage + kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(fence != MAP_FAILED && mprotect(fence, kPage, PROT_NONE) == 0);
  memset(fence + kPage, 1, kBytes);
  const unsigned char* const at = memory();
  while (more()) {
    sum_all(at);
    sum_all(fence + kPage);
  }
}

// Three times as much in small objects: two thirds are the main thread's, a third is another one's.
static unsigned char* g_last;
static void* small_objects(void* bytes) {
  enum { kEach = 65536 };
  for (size_t made = 0; made < (size_t)bytes; made += kEach) {
    unsigned char* const one = malloc(kEach);
    CHECK(one != NULL);
    memset(one, 1, kEach);
    g_last = one;
  }
  return NULL;
}
void scattered(void) {
  pthread_t thread;
  small_objects((void*)(2 * kBytes));
  CHECK(pthread_create(&thread, NULL, small_objects, (void*)kBytes) == 0 && pthread_join(thread, NULL) == 0);
  const unsigned char* const at = memory();
  while (more()) {
    sum_all(at);
  }
  CHECK(*g_last == 1);
}

// All there is ends where one of malloc's arenas would.
void ends_like_an_arena(void) {
  const uintptr_t arena = 64U << 20U;
  const size_t closed = 32 * (size_t)kPage;
  unsigned char* const all = mmap(NULL, 2 * arena, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(all != MAP_FAILED);
  unsigned char* const end = (unsigned char*)(((uintptr_t)all + 2 * arena) / arena * arena);
  unsigned char* const at = end - closed - kBytes;
  CHECK(munmap(all, (size_t)(at - all)) == 0 && mprotect(at, kBytes, PROT_READ | PROT_WRITE) == 0);
  CHECK(end == all + 2 * arena || munmap(end, (size_t)(all + 2 * arena - end)) == 0);
  memset(at, 1, kBytes);
  while (more()) {
    sum_all(at);
  }
}

static bool inaccessible(const unsigned char* at) {
  int ends[2];
  CHECK(pipe2(ends, O_CLOEXEC) == 0);
  // Not by `write`, before which the sampler makes it accessible.
  const bool is = syscall(SYS_write, ends[1], at, (size_t)1) != 1;
  CHECK(!is || errno == EFAULT);
  close(ends[0]);
  close(ends[1]);
  return is;
}

// A thread's fault may reach the handler when the page has long been made accessible, for another thread.
static void fault_late(unsigned char* at) {
  siginfo_t late = {.si_signo = SIGSEGV, .si_code = SEGV_ACCERR};
  late.si_addr = at;
  CHECK(syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGSEGV, &late) == 0);
}

// The program's own inaccessible memory lies around all there is, so that Linux joins it with guarded pages.
void between_inaccessible(void) {
  const size_t closed = 32 * (size_t)kPage;
  unsigned char* const all =
      mmap(NULL, kBytes + 2 * closed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(all != MAP_FAILED);
  unsigned char* const at = all + closed;
  memset(at, 1, kBytes);  // before the ends are cut off: mappings join only where all or none were touched
  CHECK(mprotect(all, closed, PROT_NONE) == 0 && mprotect(at + kBytes, closed, PROT_NONE) == 0);
  unsigned char* const edges[] = {at, at + kBytes - kPage};
  for (unsigned late = 0; late < 6 || more();) {
    unsigned char* const edge = edges[late % 2];
    const bool was = inaccessible(edge);
    for (size_t page = kPages / 2; page < kPages - 1; ++page) {
      (void)((volatile unsigned char*)at)[page * kPage];
    }
    usleep(1000);
    // Nobody touched it for some rounds.
    if (was && !inaccessible(edge)) {
      fault_late(edge);
      fault_late(edge);  // which would end us if the first one was taken for the program's own doing
      ++late;
    }
  }
}

// Says how many of its pages were parts of huge ones, and how many are.
void huge(void) {
  const uintptr_t all = 2U << 20U;
  // Not sampled as long as it is executable: to fill it may take longer than until the first sample.
  unsigned char* const map =
      mmap(NULL, kBytes + all, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(map != MAP_FAILED);
  unsigned char* const at = (unsigned char*)(((uintptr_t)map + all - 1) / all * all);
  const bool can = madvise(at, kBytes, MADV_HUGEPAGE) == 0;
  memset(at, 1, kBytes);
  // Nothing joins them again.
  CHECK(!can || madvise(at, kBytes, MADV_NOHUGEPAGE) == 0);
  printf("%ld", parts_of_huge_pages(at, kPages));
  CHECK(mprotect(at, kBytes, PROT_READ | PROT_WRITE) == 0);
  while (more()) {
    sum_all(at);
  }
  printf(" %ld\n", parts_of_huge_pages(at, kPages));
}
