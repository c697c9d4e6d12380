// What a program does that the sampler must not disturb: one scenario at a time, each checks itself and exits
// with 0.
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// At least for the time that the test gave, then until it closes our input: it has seen enough by then.
static double g_until;
bool more(void) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  return seconds() < g_until || poll(&input, 1, 0) == 0;
}

unsigned char* memory(void) {
  unsigned char* const at = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED);
  memset(at, 1, kBytes);
  return at;
}

void sum_all(const unsigned char* at) {
  unsigned sum = 0;
  for (size_t page = 0; page < kPages; ++page) {
    sum += ((const volatile unsigned char*)at)[page * kPage];
  }
  CHECK(sum > 0);
}

// Two threads, each with pages of its own; one loads, the other stores.
static void* own_pages(void* stores) {
  volatile unsigned char* const at = memory();
  printf("%ld %p %s\n", syscall(SYS_gettid), (void*)at, stores == NULL ? "loads" : "stores");
  fflush(stdout);
  while (more()) {
    for (size_t page = 0; page < kPages; ++page) {
      if (stores != NULL) {
        at[page * kPage + 8] = 7;
      } else {
        (void)at[page * kPage + 8];
      }
    }
  }
  return NULL;
}
static void attribution(void) {
  pthread_t loads;
  pthread_t stores;
  CHECK(pthread_create(&loads, NULL, own_pages, NULL) == 0);
  CHECK(pthread_create(&stores, NULL, own_pages, &g_until) == 0);
  CHECK(pthread_join(loads, NULL) == 0 && pthread_join(stores, NULL) == 0);
}

// The program tracks its own writes by SIGSEGV, as a garbage collector may.
static unsigned char* g_tracked;
static volatile sig_atomic_t g_faults;
static void on_tracked(int number, siginfo_t* info, void* context) {
  (void)context;
  sigset_t mask;
  CHECK(number == SIGSEGV && info->si_code == SEGV_ACCERR);
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
  CHECK(sigismember(&mask, SIGSEGV) == 1 && sigismember(&mask, SIGUSR1) == 1 &&
        sigismember(&mask, SIGUSR2) == 0);
  const uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(kPage - 1);
  CHECK(page >= (uintptr_t)g_tracked && page < (uintptr_t)g_tracked + kBytes);
  CHECK(mprotect((void*)page, kPage, PROT_READ | PROT_WRITE) == 0);
  ++g_faults;
}
static void own_handler(void) {
  struct sigaction action = {.sa_sigaction = on_tracked, .sa_flags = SA_SIGINFO};
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGUSR1);
  CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
  struct sigaction now;
  CHECK(sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction == on_tracked && now.sa_flags == SA_SIGINFO);
  unsigned char* const other = memory();
  g_tracked = memory();
  while (more()) {
    CHECK(mprotect(g_tracked, kBytes, PROT_READ) == 0);
    g_faults = 0;
    for (size_t page = 0; page < kPages; page += 16) {
      ((volatile unsigned char*)g_tracked)[page * kPage] = 3;
    }
    CHECK(g_faults == kPages / 16);
    for (int i = 0; i < 200; ++i) {
      sum_all(other);
    }
  }
}

static sigjmp_buf g_jump;
static void jump_out(int number) { siglongjmp(g_jump, number); }
static bool accessible(const unsigned char* at) {
  struct sigaction action = {.sa_handler = jump_out};
  struct sigaction before;
  CHECK(sigaction(SIGSEGV, &action, &before) == 0);
  const bool is = sigsetjmp(g_jump, 1) == 0 && *(const volatile unsigned char*)at < 255;
  CHECK(sigaction(SIGSEGV, &before, NULL) == 0);
  return is;
}

// Mappings change while they are sampled.
static void changes(void) {
  unsigned char* const still = memory();
  unsigned char* closed = memory();
  while (more()) {
    unsigned char* at = memory();
    for (size_t page = 0; page < kPages; ++page) {
      at[page * kPage] = (unsigned char)page;
    }
    usleep(150000);
    at = mremap(at, kBytes, 2 * kBytes, MREMAP_MAYMOVE);
    CHECK(at != MAP_FAILED);
    for (size_t page = 0; page < kPages; ++page) {
      CHECK(at[page * kPage] == (unsigned char)page);
    }
    CHECK(mlock(at, kBytes) == 0 || errno == ENOMEM || errno == EPERM);
    CHECK(mprotect(at, kBytes / 2, PROT_READ) == 0);
    usleep(150000);
    CHECK(at[kBytes / 2] == (unsigned char)(kPages / 2));
    CHECK(mprotect(at, kBytes / 2, PROT_READ | PROT_WRITE) == 0);
    at[0] = 77;
    CHECK(mmap(at, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at && at[0] == 0);
    CHECK(munmap(at, 2 * kBytes) == 0);
    CHECK(mprotect(closed, kBytes, PROT_NONE) == 0);
    sum_all(still);
    // Freed within the C library, where nobody sees it, and then something else is there.
    unsigned char* const block = malloc(kBytes);
    CHECK(block != NULL);
    memset(block, 5, kBytes);
    usleep(150000);
    free(block);
    unsigned char* const next = mmap(NULL, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(next != MAP_FAILED);
    usleep(700000);
    for (size_t page = 0; page < kPages; page += 64) {
      CHECK(!accessible(closed + page * kPage));
      // Read-only as it was made.
      CHECK(mincore(next + page * kPage, kPage, &(unsigned char){0}) == 0);
    }
    FILE* const maps = fopen("/proc/self/maps", "re");
    char line[512];
    while (fgets(line, sizeof line, maps) != NULL) {
      uintptr_t begin = 0;
      uintptr_t end = 0;
      char rights[8] = "";
      CHECK(sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &begin, &end, rights) == 3);
      if (begin < (uintptr_t)next + kBytes && end > (uintptr_t)next) {
        CHECK(strcmp(rights, "r--p") == 0);
      }
    }
    fclose(maps);
    CHECK(munmap(next, kBytes) == 0);
    CHECK(mprotect(closed, kBytes, PROT_READ | PROT_WRITE) == 0);
  }
}

// The kernel reads and writes memory that is sampled: never EFAULT, and never less than it would.
static void io(void) {
  unsigned char* const from = memory();
  unsigned char* const to = memory();
  const int file = memfd_create("file", 0);
  CHECK(file >= 0);
  FILE* const stream = tmpfile();
  CHECK(stream != NULL);
  unsigned char round = 1;
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  for (; more(); ++round) {
    memset(from, round, kBytes);
    CHECK(pwrite(file, from, kBytes, 0) == kBytes);
    CHECK(pread(file, to, kBytes, 0) == kBytes && memcmp(from, to, kBytes) == 0);
    CHECK(lseek(file, 0, SEEK_SET) == 0);
    CHECK(write(file, from, kBytes) == kBytes && lseek(file, 0, SEEK_SET) == 0);
    CHECK(read(file, to, kBytes) == kBytes);
    const struct iovec parts[2] = {{to, kBytes / 2}, {to + kBytes / 2, kBytes / 2}};
    CHECK(lseek(file, 0, SEEK_SET) == 0 && readv(file, parts, 2) == kBytes && to[kBytes - 1] == round);
    CHECK(lseek(file, 0, SEEK_SET) == 0 && writev(file, parts, 2) == kBytes);
    rewind(stream);
    CHECK(fwrite(from, 1, kBytes, stream) == kBytes && fflush(stream) == 0);
    rewind(stream);
    CHECK(fread(to, 1, kBytes, stream) == kBytes && memcmp(from, to, kBytes) == 0);
    for (size_t i = 0; i < kPages; i += 8) {
      CHECK(send(ends[0], from + i * kPage, kPage, 0) == kPage);
      CHECK(recv(ends[1], to + i * kPage, kPage, MSG_WAITALL) == kPage);
    }
  }
}

static void wait_for(pid_t child) {
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
static void* keep_reading(void* at) {
  while (more()) {
    sum_all(at);
  }
  return NULL;
}

// Children see all of the memory, and nobody samples them.
static void processes(void) {
  unsigned char* const at = memory();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, keep_reading, at) == 0);
  char** const arguments = (char**)memory();  // what exec is passed lies in memory that is sampled
  char* const text = (char*)memory();
  strcpy(text, "/bin/true");
  arguments[0] = text;
  arguments[1] = NULL;
  while (more()) {
    usleep(50000);
    const pid_t forked = fork();
    if (forked == 0) {
      for (size_t page = 0; page < kPages; ++page) {
        at[page * kPage] = 2;
      }
      _exit(at[5] == 1 ? 0 : 1);
    }
    wait_for(forked);
    const pid_t executed = fork();
    if (executed == 0) {
      execv(text, arguments);
      _exit(1);
    }
    wait_for(executed);
    pid_t spawned = 0;
    CHECK(posix_spawn(&spawned, text, NULL, NULL, arguments, environ) == 0);
    wait_for(spawned);
    CHECK(system(text) == 0);
  }
  CHECK(pthread_join(thread, NULL) == 0);
}

// Signals: threads with all of them blocked, handlers with all blocked, each of which touches what is
// sampled.
static unsigned char* g_memory;
static void on_alarm(int number) {
  (void)number;
  static size_t page;
  page = (page + 61) % kPages;
  ((volatile unsigned char*)g_memory)[page * kPage + kPage / 2] = 1;  // not where the locks are
}
static void* all_blocked(void* at) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  CHECK(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
  CHECK(pthread_sigmask(SIG_SETMASK, NULL, &before) == 0 && sigismember(&before, SIGSEGV) == 1);
  return keep_reading(at);
}
static void signals(void) {
  g_memory = memory();
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigfillset(&action.sa_mask);
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  const struct itimerval often = {{0, 500}, {0, 500}};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, all_blocked, g_memory) == 0);
  keep_reading(g_memory);
  CHECK(pthread_join(thread, NULL) == 0);
}

// Locks in memory that is sampled: the kernel looks at them when it likes.
struct locks {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  pthread_barrier_t barrier;
  sem_t semaphore;
  int turn;
  bool ended;
};
static void* take_turns(void* given) {
  struct locks* const locks = given;
  CHECK(pthread_mutex_lock(&locks->mutex) == 0);
  while (!locks->ended) {
    while (locks->turn == 0 && !locks->ended) {
      CHECK(pthread_cond_wait(&locks->condition, &locks->mutex) == 0);
    }
    locks->turn = 0;
    CHECK(pthread_cond_broadcast(&locks->condition) == 0);
  }
  CHECK(pthread_mutex_unlock(&locks->mutex) == 0);
  pthread_barrier_wait(&locks->barrier);
  CHECK(sem_wait(&locks->semaphore) == 0);
  return NULL;
}
static void locks(void) {
  g_memory = memory();
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  const struct itimerval often = {{0, 300}, {0, 300}};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  while (more()) {
    // Each time on other pages.
    struct locks* const locks = (struct locks*)(g_memory + (size_t)(rand() % kPages) * kPage);
    memset(locks, 0, sizeof *locks);
    CHECK(pthread_mutex_init(&locks->mutex, NULL) == 0 && pthread_cond_init(&locks->condition, NULL) == 0);
    CHECK(pthread_barrier_init(&locks->barrier, NULL, 2) == 0 && sem_init(&locks->semaphore, 0, 0) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, take_turns, locks) == 0);
    for (int i = 0; i < 2000; ++i) {
      CHECK(pthread_mutex_lock(&locks->mutex) == 0);
      locks->turn = 1;
      CHECK(pthread_cond_broadcast(&locks->condition) == 0);
      while (locks->turn == 1) {
        CHECK(pthread_cond_wait(&locks->condition, &locks->mutex) == 0);
      }
      CHECK(pthread_mutex_unlock(&locks->mutex) == 0);
    }
    CHECK(pthread_mutex_lock(&locks->mutex) == 0);
    locks->ended = true;
    CHECK(pthread_cond_broadcast(&locks->condition) == 0 && pthread_mutex_unlock(&locks->mutex) == 0);
    pthread_barrier_wait(&locks->barrier);
    usleep(20000);
    CHECK(sem_post(&locks->semaphore) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
  }
}

// Many threads that come and go, on the same pages.
static void* read_once(void* at) {
  sum_all(at);
  return NULL;
}
static void threads(void) {
  unsigned char* const at = memory();
  while (more()) {
    pthread_t some[8];
    for (int i = 0; i < 8; ++i) {
      CHECK(pthread_create(&some[i], NULL, read_once, at) == 0);
    }
    for (int i = 0; i < 8; ++i) {
      CHECK(pthread_join(some[i], NULL) == 0);
    }
  }
}

static void crash(void) {
  keep_reading(memory());
  *(volatile int*)8 = 1;
}
static void kill_itself(void) {
  keep_reading(memory());
  raise(SIGSEGV);
}

// How its memory is mapped once sampling has ended: in one piece, and accessible.
static void left(void) {
  unsigned char* const at = memory();
  while (more()) {
    sum_all(at);
  }
  char line[512];
  FILE* const maps = fopen("/proc/self/maps", "re");
  int pieces = 0;
  while (fgets(line, sizeof line, maps) != NULL) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    char rights[8] = "";
    CHECK(sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &begin, &end, rights) == 3);
    if (begin < (uintptr_t)at + kBytes && end > (uintptr_t)at) {
      ++pieces;
      CHECK(strcmp(rights, "rw-p") == 0);
    }
  }
  CHECK(pieces == 1);
}

// As Go's runtime does.
struct kernel_action {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};
static void take_signal(void) {
  unsigned char* const at = memory();
  struct kernel_action none = {.handler = SIG_IGN};
  CHECK(syscall(SYS_rt_sigaction, SIGSEGV, &none, NULL, 8) == 0);
  while (more()) {
    usleep(10000);
  }
  sum_all(at);
}

// Touches all of its pages, and rests.
static void seldom(void) {
  unsigned char* const at = memory();
  while (more()) {
    sum_all(at);
    usleep(300000);
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} kScenarios[] = {
    {"attribution", attribution},
    {"own_handler", own_handler},
    {"changes", changes},
    {"io", io},
    {"processes", processes},
    {"signals", signals},
    {"locks", locks},
    {"threads", threads},
    {"crash", crash},
    {"kill_itself", kill_itself},
    {"left", left},
    {"take_signal", take_signal},
    {"seldom", seldom},
    {"fenced", fenced},
    {"scattered", scattered},
    {"ends_like_an_arena", ends_like_an_arena},
    {"between_inaccessible", between_inaccessible},
    {"huge", huge},
};

int main(int count, char** arguments) {
  CHECK(count == 3);
  g_until = seconds() + atof(arguments[2]);
  for (size_t i = 0; i < sizeof kScenarios / sizeof *kScenarios; ++i) {
    if (strcmp(kScenarios[i].name, arguments[1]) == 0) {
      kScenarios[i].run();
      return 0;
    }
  }
  return 2;
}
