// A known number of accesses, from known CPUs to known nodes, at a known address: what the plugin that counts
// a machine's accesses must have counted. CPU 0 is of node 0, CPU 1 of node 1.
#define _GNU_SOURCE
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kPageBytes = 4096, kPages = 64 };

static volatile uint64_t* const g_memory = (volatile uint64_t*)0x100000000000;

static void check(int right, const char* what) {
  if (!right) {
    perror(what);
    exit(1);
  }
}

static void run_on(size_t cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  check(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
}

static void load(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    (void)g_memory[i % kPages * (kPageBytes / sizeof(uint64_t))];
  }
}

static void store(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    g_memory[i % kPages * (kPageBytes / sizeof(uint64_t))] = i;
  }
}

// Usage: accesses [wait]: wait some seconds between the two halves.
int main(int count, char** arguments) {
  void* const at = mmap((void*)(uintptr_t)g_memory, (size_t)kPages * kPageBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  check(at == (void*)(uintptr_t)g_memory, "mmap");
  const unsigned long node_1 = 2;
  check(syscall(SYS_mbind, at, (long)kPages * kPageBytes, MPOL_BIND, &node_1, 8L, 0L) == 0, "mbind");
  run_on(0);
  store(1000);
  run_on(1);
  load(30000);
  if (count > 1) {
    sleep((unsigned)atoi(arguments[1]));
  }
  void* pages[kPages];
  int nodes[kPages];
  int status[kPages];
  for (size_t i = 0; i < kPages; ++i) {
    pages[i] = (void*)(uintptr_t)((uintptr_t)g_memory + i * kPageBytes);
    nodes[i] = 0;
  }
  check(syscall(SYS_move_pages, 0, (long)kPages, pages, nodes, status, MPOL_MF_MOVE) == 0, "move_pages");
  run_on(0);
  load(500);
  run_on(1);
  store(70);
  run_on(0);
  load(64);
  puts("done");
  return 0;
}
