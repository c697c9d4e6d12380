/* Zeroing memory: the kernels of this build, and the ones that suit this CPU.
 *
 * Every function that zeroes
 *   - takes lengths in bytes and zeroes exactly [memory, memory + bytes): no byte outside is written or read;
 *   - takes any address and any length, 0 included; `memory` may be NULL when the length is 0;
 *   - may be called from any number of threads at once, as long as no two calls touch the same byte;
 *   - reports no error: there is none. Memory that cannot be written faults as an ordinary store would.
 *
 * Ordering. When a function returns, the calling thread reads zeroes, and the zeroes are ordered before its
 * later stores as ordinary stores of this architecture are: on x86-64 a plain or release store may publish
 * the memory to other threads; elsewhere it takes a release store or a fence, as after any memset.
 * Non-temporal stores alone are not ordered so on x86-64, which is why every kernel there that uses them ends
 * with `sfence` (Intel 64 and IA-32 Architectures Software Developer's Manual, vol. 3A, "Memory Ordering in
 * P6 and More Recent Processor Families"). The instructions of other architectures that zero a block are
 * ordered as stores; each kernel's source says where that is written.
 *
 * Signals. The first call of any function in a process looks at the CPU (pthread_once) and must not be made
 * in a signal handler; a kernel's own `zero` may always be called there.
 *
 * Needs C11 or C++11, and at link time the C library with POSIX threads: no C++ runtime.
 */
#ifndef MEMGRAFT_ZEROING_H
#define MEMGRAFT_ZEROING_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a kernel stores. */
/* NOLINTNEXTLINE(performance-enum-size): an enum of C11 cannot say what it is made of */
enum memgraft_zero_stores {
  /* Through the caches: the zeroed lines are in the cache afterwards, and what they displaced is not. Best
   * when the memory is used soon or was cached already. */
  MEMGRAFT_ZERO_ORDINARY = 0,
  /* Past the caches, in whole lines: memory is not read first, nothing useful is displaced, and the zeroed
   * lines are not cached afterwards even if they were before. Best for memory that is out of cache and not
   * used soon (Yang, "Locality Aware Zeroing: Exploiting Both Hardware and Software Semantics", ANU 2011,
   * sections 2.3 and 3.3). */
  MEMGRAFT_ZERO_NON_TEMPORAL = 1
};

/* One way to zero memory. Names are stable; they appear in command lines, summaries and benchmark results. */
struct memgraft_zero_kernel {
  /* Everywhere: "word-1", -4, -8, "memset".
   * x86-64:  "rep-stosb", "avx2", "avx512", "non-temporal-16", -32, -64, "clzero", "movdir64b".
   * AArch64: "dc-zva-1", -2, -4 (instructions a turn), "non-temporal-32".
   * ppc64le: "dcbz-1", -2, -4 (instructions a turn), "altivec".
   * RISC-V:  "cbo-zero". */
  const char* name;
  const char* description; /* one line for people, with what the CPU must have */
  enum memgraft_zero_stores stores;
  size_t width;   /* bytes that one store instruction of the main loop writes; 0 where that is not fixed */
  bool available; /* does this CPU, under this operating system, have the instructions? */
  void (*zero)(void* memory, size_t bytes); /* never NULL; call it only where `available` (else: SIGILL) */
};

#ifndef __cplusplus
typedef struct memgraft_zero_kernel memgraft_zero_kernel;
#endif

/* Every kernel of this build, available or not; `*count` receives how many. The array lives as long as the
 * process and never changes. */
const struct memgraft_zero_kernel* memgraft_zero_kernels(size_t* count);

/* The kernel chosen for this CPU: looked up once, at the first use, and the same ever after. An ordinary
 * kernel is always found. NULL for MEMGRAFT_ZERO_NON_TEMPORAL where this CPU or this build has no
 * non-temporal kernel. */
const struct memgraft_zero_kernel* memgraft_zero_chosen(enum memgraft_zero_stores stores);

/* What becomes of the memory: what decides, besides its size, which kernel is best. */
/* NOLINTNEXTLINE(performance-enum-size): an enum of C11 cannot say what it is made of */
enum memgraft_zero_use {
  MEMGRAFT_ZERO_RESIDENT = 0,  /* it is in this core's caches already */
  MEMGRAFT_ZERO_NOT_USED = 1,  /* it is in no cache, and this core does not touch it afterwards */
  MEMGRAFT_ZERO_USED_LATE = 2, /* in no cache, and touched after more than the L2 cache holds was zeroed */
  MEMGRAFT_ZERO_USED_SOON = 3  /* in no cache, and touched right after it was zeroed */
};

/* The kernel that is best for blocks of `bytes`, used so, zeroed by `threads` threads of this process at a
 * time (0 counts as 1): by the table in force, else by what is known of this CPU's family. Never NULL, always
 * available; the zeroing itself is right whatever is asked for. What it returns stays valid as long as the
 * process lives, so that blocks of one size need one look-up, not one each: a look-up takes a few
 * nanoseconds, about as long as zeroing 64 bytes that are cached. */
const struct memgraft_zero_kernel* memgraft_zero_best(enum memgraft_zero_use use, size_t bytes,
                                                      unsigned threads);

/* Puts a table of `memgraft zero calibrate` in force for memgraft_zero_best (docs/formats.md, "The table of
 * the best kernels"). True: from now on it decides, in every thread. False: nothing has changed, and `error`
 * has one line that says why not and what to do, cut to `error_bytes`, its closing NUL included; it may be
 * NULL where error_bytes is 0. A table that another one replaces stays allocated, since threads may be
 * reading it: tables are loaded at start, not continually. Not to be called in a signal handler. */
bool memgraft_zero_load_table(const char* path, char* error, size_t error_bytes);

/* The path of the table in force, as it was given; NULL where none is and the defaults hold. */
const char* memgraft_zero_table(void);

/* This CPU as tables name it, from /proc/cpuinfo: "GenuineIntel 6 85 7 Intel(R) Xeon(R) Gold 6248"; empty
 * where that cannot be read. */
const char* memgraft_zero_cpu(void);

/* Zeroes with the chosen ordinary kernel. */
void memgraft_zero(void* memory, size_t bytes);

/* Zeroes with the chosen non-temporal kernel; where there is none, the same as memgraft_zero. */
void memgraft_zero_non_temporal(void* memory, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
