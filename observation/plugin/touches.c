// Every access of a program, by thread: a monitor that misses nothing, for any program that QEMU's user mode
// runs. Writes a record of touches (docs/formats.md, section 14) of all or every Nth, and exact counts. See
// README.md.
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "every_access.h"
#include "page_counts.h"
#include "tcg_api.h"

enum {
  kRecords = 4096,    // written together
  kClockEvery = 256,  // accesses of a thread between looks at the clock
  kRecordBytes = 32,
  kHeaderBytes = 48,
  kKnowsThread = 1,
  kEveryAccess = 4,
  kKnowsStore = 1,
  kStore = 2,
};

struct record {
  uint64_t address;
  uint64_t nanoseconds;
  uint32_t thread;
  uint32_t cpu;
  uint32_t latency;
  uint32_t flags;
};
_Static_assert(sizeof(struct record) == kRecordBytes, "as in the file; x86-64 is little-endian");

struct thread {
  struct thread* next;
  uint32_t number;
  uint64_t until_record;
  uint64_t until_clock;
  uint64_t now;
  uint64_t loads;
  uint64_t stores;
  struct page_counts pages;
  size_t record_count;
  struct record records[kRecords];
};

// QEMU uses the numbers of its CPUs again for later threads: so a thread is known by its own.
static __thread struct thread* t_thread;
static struct thread* g_threads;
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static FILE* g_out;
static FILE* g_counts;
static uint64_t g_every = 1;
static uint64_t g_data_first;
static uint64_t g_data_last = UINT64_MAX;
static pid_t g_process;
static atomic_bool g_ended;

MEMGRAFT_EXPORT int qemu_plugin_version = MEMGRAFT_PLUGIN_API_VERSION;

static void flush(struct thread* thread) {
  if (g_out != NULL && getpid() == g_process) {
    pthread_mutex_lock(&g_lock);
    fwrite(thread->records, kRecordBytes, thread->record_count, g_out);
    pthread_mutex_unlock(&g_lock);
  }
  thread->record_count = 0;
}

static struct thread* this_thread(void) {
  if (t_thread == NULL) {
    struct thread* const thread = calloc(1, sizeof *thread);
    if (thread == NULL) {
      abort();
    }
    thread->number = (uint32_t)gettid();
    thread->until_record = 1;
    pthread_mutex_lock(&g_lock);
    thread->next = g_threads;
    g_threads = thread;
    pthread_mutex_unlock(&g_lock);
    t_thread = thread;
  }
  return t_thread;
}

static void record(struct thread* thread, uint64_t address, bool store) {
  thread->records[thread->record_count++] = (struct record){.address = address,
                                                            .nanoseconds = thread->now,
                                                            .thread = thread->number,
                                                            .flags = kKnowsStore | (store ? kStore : 0)};
  if (thread->record_count == kRecords) {
    flush(thread);
  }
}

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void* user) {
  (void)cpu;
  (void)user;
  if (address < g_data_first || address > g_data_last ||
      atomic_load_explicit(&g_ended, memory_order_relaxed)) {
    return;
  }
  struct thread* const thread = this_thread();
  const bool store = qemu_plugin_mem_is_store(info);
  struct page_count* const count = count_of(&thread->pages, address);
  *(store ? &thread->stores : &thread->loads) += 1;
  *(store ? &count->stores : &count->loads) += 1;
  if (thread->until_clock-- == 0) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    thread->now = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    thread->until_clock = kClockEvery;
  }
  if (--thread->until_record == 0) {
    thread->until_record = g_every;
    if (g_out != NULL) {
      record(thread, address, store);
    }
  }
}

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  call_at_each_access(block, on_access);
}

static void write_counts(void) {
  fputs("{\"schema\": 1, \"kind\": \"program-accesses\", \"page_bytes\": 4096, \"threads\": [", g_counts);
  for (const struct thread* thread = g_threads; thread != NULL; thread = thread->next) {
    fprintf(g_counts,
            "\n  {\"thread\": %" PRIu32 ", \"loads\": %" PRIu64 ", \"stores\": %" PRIu64 ", \"pages\": [",
            thread->number, thread->loads, thread->stores);
    const char* separator = "";
    for (size_t i = 0; i < thread->pages.slot_count; ++i) {
      const struct page_count* const count = &thread->pages.slots[i];
      if (count->page != 0) {
        fprintf(g_counts, "%s[\"0x%" PRIx64 "\", %" PRIu64 ", %" PRIu64 "]", separator, count->page - 1,
                count->loads, count->stores);
        separator = ", ";
      }
    }
    fprintf(g_counts, "]}%s", thread->next == NULL ? "" : ",");
  }
  fputs("\n]}\n", g_counts);
  fclose(g_counts);
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void* user) {
  (void)id;
  (void)user;
  // Threads that still run are cut off; a child of the program has nothing to say.
  atomic_store(&g_ended, true);
  if (getpid() != g_process) {
    return;
  }
  for (struct thread* thread = g_threads; thread != NULL; thread = thread->next) {
    flush(thread);
  }
  if (g_out != NULL) {
    fclose(g_out);
  }
  if (g_counts != NULL) {
    write_counts();
  }
}

static void write_header(void) {
  const struct {
    char magic[8];
    uint32_t version, header_bytes, page_bytes, nodes, cpus, sees;
    uint64_t stands_for, none;
  } header = {.magic = {'M', 'G', 'T', 'O', 'U', 'C', 'H', '\n'},
              .version = 1,
              .header_bytes = kHeaderBytes,
              .page_bytes = 4096,
              .sees = kKnowsThread | (g_every == 1 ? kEveryAccess : 0),
              .stands_for = g_every};
  _Static_assert(sizeof header == kHeaderBytes, "as in the file");
  fwrite(&header, sizeof header, 1, g_out);
}

static bool take(const char* argument) {
  const char* value = value_of(argument, "out");
  if (value != NULL) {
    g_out = fopen(value, "wbe");
    return g_out != NULL;
  }
  if ((value = value_of(argument, "counts")) != NULL) {
    g_counts = fopen(value, "we");
    return g_counts != NULL;
  }
  if ((value = value_of(argument, "data")) != NULL) {
    return range_of(value, &g_data_first, &g_data_last);
  }
  return (value = value_of(argument, "every")) != NULL && number_of(&value, 0, &g_every) && g_every > 0;
}

// QEMU calls it by this name in each plugin.
MEMGRAFT_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info* info, int count,
                                        char** arguments) {
  (void)info;
  if (!take_all(count, arguments, take, "touches", "out=FILE, counts=FILE, every=N or data=FIRST-LAST")) {
    return -1;
  }
  if (g_out != NULL) {
    write_header();
  }
  g_process = getpid();
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
  qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
  return 0;
}
