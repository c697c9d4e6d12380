// Counts a whole emulated machine's accesses from user space, by CPU and by the node of the memory: a monitor
// that misses nothing, to judge what page migration did. With caches it also counts the accesses that would
// have gone to memory. See README.md.
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "arguments.h"
#include "line_cache.h"
#include "tcg_api.h"

enum {
  kMostCpus = 64,
  kMostNodes = 8,
  kClockEvery = 1 << 16,  // accesses of a CPU between looks at the clock
  kBootBlocks = 50000,    // translated blocks in which a kernel has initialized the memory of all nodes
};

// Each written by its CPU's thread only, read by whoever writes a line.
struct counts {
  _Alignas(128) _Atomic uint64_t by_node[kMostNodes];
  _Atomic uint64_t stores[kMostNodes];
  _Atomic uint64_t misses[kMostNodes];
  _Atomic uint64_t elsewhere;  // devices, and memory beyond the nodes
  _Atomic(struct line_cache*) cache;
  uint64_t until_clock;
};

static struct counts g_counts[kMostCpus];
static _Atomic unsigned g_cpus;
static unsigned g_nodes;
static uint64_t g_node_begin[kMostNodes];  // physical
static uint64_t g_node_end[kMostNodes];
// QEMU before 8.2 adds to the physical address of memory the offset of the node's memory among all memory,
// which is the same number once more. Seen while the kernel boots: addresses that no memory has.
static _Atomic bool g_doubled;
static _Atomic unsigned g_boot_blocks;
static uint64_t g_data_first;
static uint64_t g_data_last = UINT64_MAX;
static uint64_t g_code_first;
static uint64_t g_code_last =
    (UINT64_C(1) << 47) - 1;    // user space of x86-64 with four levels of page tables
static uint64_t g_cache_bytes;  // of each CPU; 0: no caches
static uint64_t g_every_ms = 1000;
static uint64_t g_begin_ms;
static uint64_t g_last_ms;
static FILE* g_out;
static pthread_mutex_t g_writing = PTHREAD_MUTEX_INITIALIZER;

MEMGRAFT_EXPORT int qemu_plugin_version = MEMGRAFT_PLUGIN_API_VERSION;

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// Only the CPU's own thread adds: no read-modify-write is needed.
static void add_one(_Atomic uint64_t* count) {
  atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
}

enum table { kAccesses, kStores, kMisses };

static void write_table(const char* name, enum table table, unsigned cpus) {
  fprintf(g_out, ", \"%s\": [", name);
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    fputs(cpu == 0 ? "[" : ", [", g_out);
    for (unsigned node = 0; node < g_nodes; ++node) {
      struct counts* const of = &g_counts[cpu];
      _Atomic uint64_t* const counts = table == kStores   ? of->stores
                                       : table == kMisses ? of->misses
                                                          : of->by_node;
      fprintf(g_out, "%s%" PRIu64, node == 0 ? "" : ", ",
              atomic_load_explicit(&counts[node], memory_order_relaxed));
    }
    fputs("]", g_out);
  }
  fputs("]", g_out);
}

// Sums since the start. With the lock.
static void write_counts(const char* event) {
  const unsigned cpus = atomic_load_explicit(&g_cpus, memory_order_relaxed);
  fprintf(g_out, "{\"schema\": 1, \"kind\": \"machine-accesses\", \"event\": \"%s\", \"at_ms\": %" PRIu64,
          event, now_ms() - g_begin_ms);
  write_table("accesses", kAccesses, cpus);
  write_table("stores", kStores, cpus);
  if (g_cache_bytes != 0) {
    write_table("misses", kMisses, cpus);
  }
  fputs(", \"elsewhere\": [", g_out);
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    fprintf(g_out, "%s%" PRIu64, cpu == 0 ? "" : ", ",
            atomic_load_explicit(&g_counts[cpu].elsewhere, memory_order_relaxed));
  }
  fputs("]}\n", g_out);
  fflush(g_out);
}

static void line_if_due(void) {
  pthread_mutex_lock(&g_writing);
  const uint64_t now = now_ms();
  if (now - g_last_ms >= g_every_ms) {
    g_last_ms = now;
    write_counts("counts");
  }
  pthread_mutex_unlock(&g_writing);
}

// UINT64_MAX: of a device.
static uint64_t physical_of(qemu_plugin_meminfo_t info, uint64_t address) {
  struct qemu_plugin_hwaddr* const where = qemu_plugin_get_hwaddr(info, address);
  return where == NULL || qemu_plugin_hwaddr_is_io(where) ? UINT64_MAX : qemu_plugin_hwaddr_phys_addr(where);
}

static unsigned node_of(uint64_t physical) {
  const bool doubled = atomic_load_explicit(&g_doubled, memory_order_relaxed);
  for (unsigned node = 0; node < g_nodes; ++node) {
    const uint64_t more = doubled ? g_node_begin[node] : 0;
    if (physical >= g_node_begin[node] + more && physical < g_node_end[node] + more) {
      return node;
    }
  }
  return kMostNodes;
}

// With its CPU's cache, which is made at the first access.
static bool misses(unsigned cpu, unsigned cpus, uint64_t physical, bool store) {
  struct line_cache* cache = atomic_load_explicit(&g_counts[cpu].cache, memory_order_relaxed);
  if (cache == NULL) {
    cache = malloc(sizeof *cache);
    uint64_t* const lines = calloc(g_cache_bytes / kLineBytes, sizeof *lines);
    if (cache == NULL || lines == NULL) {
      fprintf(stderr, "memgraft nodes plugin: no memory for a cache of %" PRIu64 " bytes\n", g_cache_bytes);
      abort();
    }
    *cache = (struct line_cache){.sets = g_cache_bytes / kSetBytes, .lines = lines};
    atomic_store_explicit(&g_counts[cpu].cache, cache, memory_order_release);
  }
  const bool missed = !access_cache(cache, physical);
  for (unsigned other = 0; store && other < cpus; ++other) {
    struct line_cache* const theirs = atomic_load_explicit(&g_counts[other].cache, memory_order_acquire);
    if (other != cpu && theirs != NULL) {
      forget_line(theirs, physical);
    }
  }
  return missed;
}

static void on_boot_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void* user) {
  (void)cpu;
  (void)user;
  if (!atomic_load_explicit(&g_doubled, memory_order_relaxed)) {
    const uint64_t physical = physical_of(info, address);
    const uint64_t end = g_node_end[g_nodes - 1];
    // Not the firmware's memory, which is elsewhere altogether.
    if (physical >= end && physical < end + g_node_begin[g_nodes - 1]) {
      atomic_store_explicit(&g_doubled, true, memory_order_relaxed);
    }
  }
}

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void* user) {
  (void)user;
  if (address < g_data_first || address > g_data_last || cpu >= kMostCpus) {
    return;
  }
  struct counts* const counts = &g_counts[cpu];
  unsigned cpus = atomic_load_explicit(&g_cpus, memory_order_relaxed);
  while (cpu >= cpus && !atomic_compare_exchange_weak(&g_cpus, &cpus, cpu + 1)) {
  }
  const uint64_t physical = physical_of(info, address);
  const unsigned node = node_of(physical);
  if (node == kMostNodes) {
    add_one(&counts->elsewhere);
  } else {
    const bool store = qemu_plugin_mem_is_store(info);
    add_one(&counts->by_node[node]);
    if (store) {
      add_one(&counts->stores[node]);
    }
    if (g_cache_bytes != 0 && misses(cpu, atomic_load(&g_cpus), physical, store)) {
      add_one(&counts->misses[node]);
    }
  }
  if (++counts->until_clock == kClockEvery) {
    counts->until_clock = 0;
    line_if_due();
  }
}

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  const size_t instructions = qemu_plugin_tb_n_insns(block);
  const bool boots = g_nodes > 1 && !atomic_load_explicit(&g_doubled, memory_order_relaxed) &&
                     atomic_fetch_add_explicit(&g_boot_blocks, 1, memory_order_relaxed) < kBootBlocks;
  for (size_t i = 0; i < instructions; ++i) {
    struct qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    const uint64_t at = qemu_plugin_insn_vaddr(instruction);
    if (at >= g_code_first && at <= g_code_last) {
      qemu_plugin_register_vcpu_mem_cb(instruction, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                       NULL);
    }
    if (boots) {
      qemu_plugin_register_vcpu_mem_cb(instruction, on_boot_access, QEMU_PLUGIN_CB_NO_REGS,
                                       QEMU_PLUGIN_MEM_RW, NULL);
    }
  }
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void* user) {
  (void)id;
  (void)user;
  pthread_mutex_lock(&g_writing);
  write_counts("end");
  pthread_mutex_unlock(&g_writing);
  fclose(g_out);
}

// MIB:MIB:...
static bool take_nodes(const char* text) {
  uint64_t end = 0;
  for (g_nodes = 0; g_nodes < kMostNodes; ++g_nodes) {
    uint64_t mebibytes = 0;
    const bool more = strchr(text, ':') != NULL;
    if (!number_of(&text, more ? ':' : 0, &mebibytes) || mebibytes == 0) {
      return false;
    }
    g_node_begin[g_nodes] = end;
    end += mebibytes << 20;
    g_node_end[g_nodes] = end;
    if (!more) {
      ++g_nodes;
      // QEMU's q35 puts memory beyond that above 4 GiB.
      return end <= UINT64_C(2) << 30;
    }
  }
  return false;
}

static bool take(const char* argument) {
  const char* value = value_of(argument, "out");
  if (value != NULL) {
    g_out = fopen(value, "we");
    return g_out != NULL;
  }
  if ((value = value_of(argument, "nodes")) != NULL) {
    return take_nodes(value);
  }
  if ((value = value_of(argument, "data")) != NULL) {
    return range_of(value, &g_data_first, &g_data_last);
  }
  if ((value = value_of(argument, "code")) != NULL) {
    return range_of(value, &g_code_first, &g_code_last);
  }
  if ((value = value_of(argument, "cache")) != NULL) {
    return number_of(&value, 0, &g_cache_bytes) && g_cache_bytes != 0 && g_cache_bytes % kSetBytes == 0;
  }
  return (value = value_of(argument, "ms")) != NULL && number_of(&value, 0, &g_every_ms) && g_every_ms > 0;
}

MEMGRAFT_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info* info, int count,
                                        char** arguments) {
  (void)info;
  _Static_assert(kMostNodes == 8, "as it is said here");
  if (!take_all(count, arguments, take, "nodes",
                "out=FILE, nodes=MIB:MIB:... (up to 8, up to 2048 MiB together), data=FIRST-LAST, "
                "code=FIRST-LAST, cache=BYTES (of each CPU, a multiple of 512) or ms=N")) {
    return -1;
  }
  if (g_out == NULL || g_nodes == 0) {
    fprintf(stderr, "memgraft nodes plugin: out=FILE and nodes=MIB:MIB:... are needed\n");
    return -1;
  }
  g_begin_ms = g_last_ms = now_ms();
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
  qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
  return 0;
}
