// How representative are samples of a program's memory transactions? All of them are counted, and sampled at
// the same time in all the ways that are compared: at the maximum rate and every Nth (Tikir, Using Hardware
// Monitors to Automatically Improve Memory Performance, University of Maryland, 2005, 3.3.1). See README.md.
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "arguments.h"
#include "every_access.h"
#include "page_counts.h"
#include "tcg_api.h"

enum {
  kMostThreads = 64,
  kFifo = 8,  // transactions in a row that the bus analyzer holds (3.1.2)
  kLineBytes = 64,
  kSamplers = 15,  // the first at the maximum rate, the others every 64, 256, 1 K, ... 4 G
};

struct thread {
  _Alignas(128) _Atomic uint64_t accesses;  // the thread's time
  uint64_t transactions;                    // with the lock
  uint64_t* lines;                          // of its cache: the address of each line + 1
};

enum step { kWaiting, kFilling, kEmptying };

// With the lock.
struct sampler {
  uint64_t interval;  // 0: as often as it can
  enum step step;
  uint64_t due;  // the transaction at which it is to be filled again
  unsigned filled;
  uint64_t full_at[kMostThreads];  // each thread's time when it was full
  uint64_t samples;
  uint64_t by_thread[kMostThreads];
  uint64_t pages;
};

static __thread struct thread* t_thread;
static struct thread g_threads[kMostThreads];
static unsigned g_thread_count;
static uint64_t g_transactions;
static struct sampler g_samplers[kSamplers];
static struct page_counts g_pages;  // `stores` says by which samplers it was sampled
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t g_lines = 512;
static uint64_t g_emptying = 400;
static FILE* g_out;
static pid_t g_process;
static atomic_bool g_ended;

MEMGRAFT_EXPORT int qemu_plugin_version = MEMGRAFT_PLUGIN_API_VERSION;

static struct thread* this_thread(void) {
  if (t_thread == NULL) {
    pthread_mutex_lock(&g_lock);
    if (g_thread_count == kMostThreads) {
      fprintf(stderr, "memgraft sampling plugin: more than %d threads\n", kMostThreads);
      abort();
    }
    t_thread = &g_threads[g_thread_count];
    t_thread->lines = calloc(g_lines, sizeof *t_thread->lines);
    if (t_thread->lines == NULL) {
      abort();
    }
    ++g_thread_count;
    pthread_mutex_unlock(&g_lock);
  }
  return t_thread;
}

// With the lock. The software that empties the analyzer takes as long as a thread does for so many accesses.
static bool is_empty_by_now(const struct sampler* sampler, unsigned thread) {
  return atomic_load_explicit(&g_threads[thread].accesses, memory_order_relaxed) - sampler->full_at[thread] >=
         g_emptying;
}

// With the lock.
static void sample(struct sampler* sampler, unsigned thread, struct page_count* page) {
  if (sampler->step == kEmptying && is_empty_by_now(sampler, thread)) {
    sampler->step = kWaiting;
  }
  if (sampler->step == kWaiting && g_transactions >= sampler->due) {
    sampler->step = kFilling;
    sampler->filled = 0;
    sampler->due = g_transactions + sampler->interval;
  }
  if (sampler->step != kFilling) {
    return;
  }
  ++sampler->samples;
  ++sampler->by_thread[thread];
  const uint64_t bit = UINT64_C(1) << (sampler - g_samplers);
  sampler->pages += (page->stores & bit) == 0 ? 1 : 0;
  page->stores |= bit;
  if (++sampler->filled == kFifo) {
    sampler->step = kEmptying;
    for (unsigned i = 0; i < g_thread_count; ++i) {
      sampler->full_at[i] = atomic_load_explicit(&g_threads[i].accesses, memory_order_relaxed);
    }
  }
}

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void* user) {
  (void)cpu;
  (void)info;
  (void)user;
  if (atomic_load_explicit(&g_ended, memory_order_relaxed)) {
    return;
  }
  struct thread* const thread = this_thread();
  // Nobody else writes it.
  atomic_store_explicit(&thread->accesses, atomic_load_explicit(&thread->accesses, memory_order_relaxed) + 1,
                        memory_order_relaxed);
  if (g_lines != 0) {
    const uint64_t line = address / kLineBytes;
    uint64_t* const place = &thread->lines[line % g_lines];
    if (*place == line + 1) {
      return;
    }
    *place = line + 1;
  }
  pthread_mutex_lock(&g_lock);
  ++thread->transactions;
  struct page_count* const page = count_of(&g_pages, address);
  ++page->loads;
  for (size_t i = 0; i < kSamplers; ++i) {
    sample(&g_samplers[i], (unsigned)(thread - g_threads), page);
  }
  ++g_transactions;
  pthread_mutex_unlock(&g_lock);
}

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  call_at_each_access(block, on_access);
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void* user) {
  (void)id;
  (void)user;
  atomic_store(&g_ended, true);
  if (getpid() != g_process) {
    return;
  }
  pthread_mutex_lock(&g_lock);
  uint64_t accesses = 0;
  for (unsigned i = 0; i < g_thread_count; ++i) {
    accesses += atomic_load_explicit(&g_threads[i].accesses, memory_order_relaxed);
  }
  fprintf(g_out,
          "{\"schema\": 1, \"kind\": \"sampling\", \"cache_bytes\": %" PRIu64
          ", \"line_bytes\": %d, \"fifo\": %d, "
          "\"emptying_accesses\": %" PRIu64 ",\n \"accesses\": %" PRIu64 ", \"transactions\": %" PRIu64
          ", \"pages\": %zu, \"by_thread\": [",
          g_lines * kLineBytes, kLineBytes, kFifo, g_emptying, accesses, g_transactions, g_pages.used);
  for (unsigned i = 0; i < g_thread_count; ++i) {
    fprintf(g_out, "%s%" PRIu64, i == 0 ? "" : ", ", g_threads[i].transactions);
  }
  fputs("],\n \"samplers\": [", g_out);
  for (size_t s = 0; s < kSamplers; ++s) {
    const struct sampler* const sampler = &g_samplers[s];
    fprintf(g_out,
            "%s\n  {\"interval\": %" PRIu64 ", \"samples\": %" PRIu64 ", \"pages\": %" PRIu64
            ", \"by_thread\": [",
            s == 0 ? "" : ",", sampler->interval, sampler->samples, sampler->pages);
    for (unsigned i = 0; i < g_thread_count; ++i) {
      fprintf(g_out, "%s%" PRIu64, i == 0 ? "" : ", ", sampler->by_thread[i]);
    }
    fputs("]}", g_out);
  }
  fputs("]}\n", g_out);
  fclose(g_out);
  pthread_mutex_unlock(&g_lock);
}

static bool take(const char* argument) {
  const char* value = value_of(argument, "out");
  if (value != NULL) {
    g_out = fopen(value, "we");
    return g_out != NULL;
  }
  if ((value = value_of(argument, "cache")) != NULL) {
    uint64_t bytes = 0;
    const bool is_number = number_of(&value, 0, &bytes);
    g_lines = bytes / kLineBytes;
    return is_number && bytes % kLineBytes == 0;
  }
  return (value = value_of(argument, "emptying")) != NULL && number_of(&value, 0, &g_emptying);
}

// QEMU calls it by this name in each plugin.
MEMGRAFT_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info* info, int count,
                                        char** arguments) {
  (void)info;
  if (!take_all(count, arguments, take, "sampling",
                "out=FILE, cache=BYTES (of a thread, in lines of 64; 0: none) or emptying=ACCESSES")) {
    return -1;
  }
  if (g_out == NULL) {
    fprintf(stderr, "memgraft sampling plugin: out=FILE is needed\n");
    return -1;
  }
  for (size_t i = 1; i < kSamplers; ++i) {
    g_samplers[i].interval = UINT64_C(64) << (2 * (i - 1));
  }
  g_process = getpid();
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
  qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
  return 0;
}
