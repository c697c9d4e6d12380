// touching CASE SECONDS: a program that a page migrator must not harm. The main thread writes all pages
// first, so that they begin on its node; then a thread on the last CPU uses them. Every page keeps a word
// that only its number gives, and a count of how often it was used: both are checked, at each use and at the
// end.
//
//   steady     nothing else
//   exit       ends in mid-use, without a word to anybody
//   fork       children, one after the other, write to their copies of all pages
//   unmap      a second piece of memory is unmapped and mapped again all the time
//   mlock      all pages are locked into memory and unlocked again all the time
//   ping-pong  the thread changes its CPU: 8 s on the last, 8 s on the first, and so on
//   shared     the main thread uses the pages as well, and as often: it and the other take turns
//   halves     the pages are one transparent huge page: half of it the main thread uses, half the other
//
// Says in one line how it went: `touching CASE uses=N nodes=A,B,... cpus=K files=K`, and where something was
// not as it was left, what, with exit code 1. `nodes`: how many of the pages lie on each, at the end.
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  pages_most = 512,
  page_bytes = 4096,
  words = page_bytes / sizeof(uint64_t),
  nodes_max = 8,
  turn_ms = 8000
};

struct page {
  uint64_t uses;
  uint64_t rest[words - 1];
};

static struct page* memory;
static size_t pages = 128;
static size_t worker_from;  // the page with which those begin that the thread uses
static atomic_bool over;
static bool in_turns;
static bool alternating;
static sem_t for_main;
static sem_t for_worker;
static uint64_t passes;

static uint64_t word_of(size_t page, size_t at) { return (page * words + at + 1) * 0x9e3779b97f4a7c15U; }

static _Noreturn void fail(const char* what, size_t page) {
  printf("touching: %s, page %zu\n", what, page);
  fflush(stdout);
  _exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void nap(long milliseconds) {
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static void run_on(long cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) {
    fail("cannot run on that CPU", (size_t)cpu);
  }
}

static void* map_bytes(size_t bytes) {
  void* mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    fail("no memory", 0);
  }
  return mapped;
}

static void* map(void) { return map_bytes(sizeof(struct page) * pages); }

static void* map_huge(void) {
  const uintptr_t bytes = sizeof(struct page) * pages_most;
  void* huge = (void*)(((uintptr_t)map_bytes(2 * bytes) + bytes - 1) / bytes * bytes);
  if (madvise(huge, bytes, MADV_HUGEPAGE) != 0) {
    fail("no huge pages", 0);
  }
  return huge;
}

static void fill(struct page* all) {
  for (size_t page = 0; page < pages; ++page) {
    all[page].uses = 0;
    for (size_t at = 0; at < words - 1; ++at) {
      all[page].rest[at] = word_of(page, at);
    }
  }
}

// The first word is any thread's: counts are exact only where one thread writes.
static void use(struct page* all, size_t from, size_t to, bool write) {
  for (size_t page = from; page < to; ++page) {
    const size_t at = page % (words - 1);
    if (((volatile uint64_t*)all[page].rest)[at] != word_of(page, at)) {
      fail("a word has changed", page);
    }
    if (write) {
      ++*(volatile uint64_t*)&all[page].uses;
    }
  }
}

static void check(const struct page* all, size_t from, uint64_t uses) {
  for (size_t page = 0; page < pages; ++page) {
    if (all[page].uses != (page < from ? 0 : uses)) {
      fail("a use was lost", page);
    }
    for (size_t at = 0; at < words - 1; ++at) {
      if (all[page].rest[at] != word_of(page, at)) {
        fail("a word has changed in the end", page);
      }
    }
  }
}

static void await(sem_t* turn) {
  while (sem_wait(turn) != 0) {
  }
}

static void* work(void* unused) {
  const long last = sysconf(_SC_NPROCESSORS_ONLN) - 1;
  run_on(last);
  double turn = now();
  bool away = false;
  while (!over) {
    if (alternating) {
      await(&for_worker);
    }
    use(memory, worker_from, pages, true);
    ++passes;
    if (alternating) {
      sem_post(&for_main);
    }
    if (in_turns && (now() - turn) * 1000 > turn_ms) {
      turn = now();
      away = !away;
      run_on(away ? 0 : last);
    }
  }
  return unused;
}

static void fork_once(void) {
  const pid_t child = fork();
  if (child == 0) {
    fill(memory);
    use(memory, 0, pages, true);
    check(memory, 0, 1);
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    fail("a child failed", (size_t)status);
  }
}

static void map_again(void) {
  struct page* other = map();
  fill(other);
  for (int pass = 0; pass < 20; ++pass) {
    use(other, 0, pages, true);
  }
  check(other, 0, 20);
  munmap(other, sizeof(struct page) * pages);
}

static void lock_again(void) {
  if (mlock(memory, sizeof(struct page) * pages) != 0 || munlock(memory, sizeof(struct page) * pages) != 0) {
    fail("cannot lock", 0);
  }
}

// Side by side, the thread whose CPU waits for the host's would use them less often.
static void share(void) {
  use(memory, 0, pages, false);
  sem_post(&for_worker);
  await(&for_main);
}

static void use_first_half(void) { use(memory, 0, worker_from, false); }

static int files(void) {
  DIR* folder = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(folder) != NULL) {
    ++count;
  }
  closedir(folder);
  // Without `.`, `..` and the folder itself.
  return count - 3;
}

// The node of a page, or -1. A page that is used is there; one that the kernel or a monitor has made
// inaccessible to see who uses it is told to be absent.
static int node_of(size_t page) {
  int status = -1;
  for (int attempt = 0; status < 0 && attempt < 100; ++attempt) {
    void* where = &memory[page];
    (void)*(volatile uint64_t*)where;
    // Without nodes to move to it only tells where the page is: move_pages(2).
    if (syscall(SYS_move_pages, 0, 1UL, &where, NULL, &status, 0) != 0) {
      fail("cannot ask where it is", page);
    }
  }
  return status < nodes_max ? status : -1;
}

static void report(const char* name) {
  int on[nodes_max] = {0};
  for (size_t page = 0; page < pages; ++page) {
    const int node = node_of(page);
    if (node >= 0) {
      ++on[node];
    }
  }
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  printf("touching %s uses=%llu nodes=%d,%d,%d,%d cpus=%d files=%d\n", name, (unsigned long long)passes,
         on[0], on[1], on[2], on[3], CPU_COUNT(&cpus), files());
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*meanwhile)(void);
  } cases[] = {{"steady", NULL},      {"exit", NULL},      {"fork", fork_once}, {"unmap", map_again},
               {"mlock", lock_again}, {"ping-pong", NULL}, {"shared", share},   {"halves", use_first_half}};
  const size_t count = sizeof cases / sizeof *cases;
  size_t chosen = 0;
  while (argc == 3 && chosen < count && strcmp(cases[chosen].name, argv[1]) != 0) {
    ++chosen;
  }
  if (argc != 3 || chosen == count) {
    fprintf(stderr, "usage: touching steady|exit|fork|unmap|mlock|ping-pong|shared|halves SECONDS\n");
    return 2;
  }
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  // First touch is to be on the first CPU's node.
  run_on(0);
  const bool halves = cases[chosen].meanwhile == use_first_half;
  alternating = cases[chosen].meanwhile == share;
  sem_init(&for_main, 0, 0);
  sem_init(&for_worker, 0, 0);
  if (halves) {
    pages = pages_most;
    worker_from = pages / 2;
  }
  memory = halves ? map_huge() : map();
  fill(memory);
  if (!halves && !alternating) {
    sched_setaffinity(0, sizeof before, &before);
  }
  in_turns = strcmp(argv[1], "ping-pong") == 0;
  pthread_t worker;
  if (pthread_create(&worker, NULL, work, NULL) != 0) {
    fail("no thread", 0);
  }
  const double end = now() + strtod(argv[2], NULL);
  while (now() < end) {
    if (cases[chosen].meanwhile != NULL) {
      cases[chosen].meanwhile();
    } else {
      nap(20);
    }
  }
  if (strcmp(argv[1], "exit") == 0) {
    printf("touching exit\n");
    fflush(stdout);
    _exit(0);
  }
  over = true;
  sem_post(&for_worker);
  pthread_join(worker, NULL);
  check(memory, worker_from, passes);
  report(argv[1]);
  return 0;
}
