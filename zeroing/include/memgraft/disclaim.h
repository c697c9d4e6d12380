/* Disclaim: zeroing memory by giving its pages back to the system, which hands out zeroed ones when they are
 * touched again (Cavanna, "Initializing memory efficiently on Power Architecture platforms", IBM
 * developerWorks 2006, "Malloc disclaim"; there with AIX's disclaim(), here with madvise(2) of Linux).
 *
 * The call itself is cheap, and the price is paid later: by a page fault for each page that is used again, in
 * which the kernel zeroes it. So it pays for memory that is large and of which little is used soon, and it
 * lowers what the process occupies meanwhile. `memgraft zero bench` shows where it pays here.
 *
 * Which memory. Any that may be written. Only pages of private anonymous mappings (mmap with MAP_PRIVATE |
 * MAP_ANONYMOUS, malloc) can be given back: of shared mappings and files MADV_DONTNEED would bring back the
 * old contents. So the system is asked first: MADV_FREE is refused for every other kind of mapping
 * (madvise(2)). Where anything is refused - a shared or file mapping, huge pages of hugetlbfs, locked memory
 * (mlock), an old Linux, an emulator that ignores advice - all of the block is zeroed with memgraft_zero, and
 * the result says so. In every case the block reads as zeroes afterwards, and no byte outside is changed.
 *
 * Ordering and threads: as in zeroing.h. Pages are gone from every thread's view when the call returns. It
 * may change errno, and must not be called in a signal handler.
 *
 * Memory registered with userfaultfd(2) asks its handler for the pages that come next, instead of the kernel:
 * do not disclaim it.
 */
#ifndef MEMGRAFT_DISCLAIM_H
#define MEMGRAFT_DISCLAIM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What becomes of the pages. */
/* NOLINTNEXTLINE(performance-enum-size): an enum of C11 cannot say what it is made of */
enum memgraft_disclaim_variant {
  /* Whole pages are given back. The next use of each is a page fault. */
  MEMGRAFT_DISCLAIM_PLAIN = 0,
  /* And at once faulted in again, all with one call: MADV_POPULATE_WRITE, Linux 5.14 and later. */
  MEMGRAFT_DISCLAIM_POPULATE = 1,
  /* Only whole huge pages (2 MiB where pages have 4 KiB) are given back, so that none is split, and the
   * system is advised to fault them in as huge pages again (MADV_HUGEPAGE; the advice stays with that memory,
   * and has no effect where /sys/kernel/mm/transparent_hugepage/enabled says never). The rest is zeroed. */
  MEMGRAFT_DISCLAIM_HUGE = 2
};

/* What was done: given_back + zeroed is the length of the block. */
struct memgraft_disclaimed {
  size_t given_back; /* bytes of whole pages given back; 0 where there was none, or it was refused */
  size_t zeroed;     /* bytes zeroed with memgraft_zero: outside whole pages, or all of them */
  /* As asked for, or MEMGRAFT_DISCLAIM_PLAIN where populating or the advice was refused. */
  enum memgraft_disclaim_variant done;
  /* 0, or the errno of what was refused first: EINVAL for memory that cannot be given back (see above) or an
   * advice that this Linux does not know, ENOMEM, EAGAIN or EHWPOISON from populating, EOPNOTSUPP where this
   * system does not do what madvise(2) says, or has no huge pages for MEMGRAFT_DISCLAIM_HUGE. */
  int error;
};

#ifndef __cplusplus
typedef struct memgraft_disclaimed memgraft_disclaimed;
#endif

/* Makes [memory, memory + bytes) read as zeroes. Any address and any length, 0 included; `memory` may be NULL
 * when the length is 0. */
struct memgraft_disclaimed memgraft_disclaim(void* memory, size_t bytes,
                                             enum memgraft_disclaim_variant variant);

#ifdef __cplusplus
}
#endif

#endif
