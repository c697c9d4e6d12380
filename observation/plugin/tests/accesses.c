// A known number of accesses, by two threads, at a known address.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kWordsOfPage = 512 };

static volatile uint64_t* const g_memory = (volatile uint64_t*)0x100000000000;

static void* second(void* unused) {
  (void)unused;
  for (int i = 0; i < 3000; ++i) {
    (void)g_memory[i % 3 * kWordsOfPage];
  }
  printf("%ld\n", syscall(SYS_gettid));
  return NULL;
}

int main(void) {
  if (mmap((void*)(uintptr_t)g_memory, 1 << 20, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
    return 1;
  }
  printf("%ld\n", syscall(SYS_gettid));
  for (uint64_t i = 0; i < 1000; ++i) {
    g_memory[i % 2 * kWordsOfPage + 1] = i;
  }
  (void)g_memory[5 * kWordsOfPage];
  pthread_t thread;
  if (pthread_create(&thread, NULL, second, NULL) != 0 || pthread_join(thread, NULL) != 0) {
    return 1;
  }
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    g_memory[0] = 1;  // another process: not counted, and it must not spoil the files
    _exit(0);
  }
  return waitpid(child, NULL, 0) == child ? 0 : 1;
}
