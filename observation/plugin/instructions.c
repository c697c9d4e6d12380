// Which instructions a program on AArch64 executes in the code that it makes while it runs (a JVM's
// interpreter and what its compilers make), as far as memory's order is concerned: accesses and barriers. See
// README.md.
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <unistd.h>

#include "a64_kind.h"
#include "arguments.h"
#include "tcg_api.h"

enum { kWrite = 64, kStandardOutput = 1 };  // a system call of AArch64's Linux, and a file

static const char* const kNames[kKinds] = {"other",  "load",    "store",     "ldar",     "stlr",
                                           "atomic", "dmb ish", "dmb ishld", "dmb ishst"};

// A translated block, and how often it was executed: by QEMU's own code, which is not atomic, so that threads
// which execute the same block at the same time may lose one.
struct block {
  struct block* next;
  uint64_t executed;
  uint32_t of[kKinds];
};

static struct block* g_blocks;
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static FILE* g_out;
static pid_t g_process;

MEMGRAFT_EXPORT int qemu_plugin_version = MEMGRAFT_PLUGIN_API_VERSION;

// --- what was made while the program runs
// ----------------------------------------------------------------------------

// The part of this process's memory that a block was last found in, and whether it is a file's. QEMU
// translates one block at a time. What was mapped once is taken to stay so: a JVM keeps its code where it is.
static struct {
  uintptr_t first;
  uintptr_t end;
  bool of_file;
} g_known;

// Of a program that QEMU runs in user mode the memory is this process's.
static bool is_of_file(uintptr_t address) {
  if (address >= g_known.first && address < g_known.end) {
    return g_known.of_file;
  }
  FILE* const maps = fopen("/proc/self/maps", "re");
  if (maps == NULL) {
    return true;
  }
  char line[4352];  // PATH_MAX, and what stands before it
  bool found = false;
  while (!found && fgets(line, sizeof line, maps) != NULL) {
    // proc(5): address, permissions, offset, device, inode; 0: of no file
    char* rest = NULL;
    const uintptr_t first = strtoul(line, &rest, 16);
    const uintptr_t end = *rest == '-' ? strtoul(rest + 1, &rest, 16) : 0;
    found = address >= first && address < end;
    if (found) {
      // From behind the address to before the inode.
      for (int field = 0; field < 3 && rest != NULL; ++field) {
        rest = strchr(rest + 1, ' ');
      }
      g_known.first = first;
      g_known.end = end;
      g_known.of_file = rest == NULL || strtoul(rest, NULL, 10) != 0;
    }
  }
  fclose(maps);
  return !found || g_known.of_file;
}

// --- counting
// --------------------------------------------------------------------------------------------------------

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb* translated) {
  (void)id;
  const size_t instructions = qemu_plugin_tb_n_insns(translated);
  const void* const where = qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(translated, 0));
  if (is_of_file((uintptr_t)where)) {
    return;
  }
  // Never given back: it counts, also when its translation has been thrown away.
  struct block* const block = calloc(1, sizeof *block);
  if (block == NULL) {
    abort();
  }
  for (size_t i = 0; i < instructions; ++i) {
    uint32_t word = 0;
    memcpy(&word, qemu_plugin_insn_data(qemu_plugin_tb_get_insn(translated, i)), sizeof word);
    ++block->of[a64_kind_of(word)];
  }
  qemu_plugin_register_vcpu_tb_exec_inline(translated, QEMU_PLUGIN_INLINE_ADD_U64, &block->executed, 1);
  pthread_mutex_lock(&g_lock);
  block->next = g_blocks;
  g_blocks = block;
  pthread_mutex_unlock(&g_lock);
}

static void write_counts(const char* when) {
  if (getpid() != g_process) {
    return;  // a child of the program
  }
  pthread_mutex_lock(&g_lock);
  uint64_t sums[kKinds] = {0};
  for (const struct block* block = g_blocks; block != NULL; block = block->next) {
    const uint64_t executed = __atomic_load_n(&block->executed, __ATOMIC_RELAXED);
    for (int kind = 0; kind < kKinds; ++kind) {
      sums[kind] += executed * block->of[kind];
    }
  }
  fprintf(g_out, "{\"schema\": 1, \"kind\": \"executed\", \"when\": \"%s\"", when);
  for (int kind = 0; kind < kKinds; ++kind) {
    fprintf(g_out, ", \"%s\": %" PRIu64, kNames[kind], sums[kind]);
  }
  fputs("}\n", g_out);
  fflush(g_out);
  pthread_mutex_unlock(&g_lock);
}

static void on_system_call(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2,
                           uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
  (void)id, (void)cpu, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
  if (number == kWrite && a1 == kStandardOutput) {
    write_counts("write");
  }
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void* user) {
  (void)id;
  (void)user;
  write_counts("exit");
}

static bool take(const char* argument) {
  const char* const out = value_of(argument, "out");
  return out != NULL && g_out == NULL && (g_out = fopen(out, "we")) != NULL;
}

MEMGRAFT_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info* info, int count,
                                        char** arguments) {
  (void)info;
  if (!take_all(count, arguments, take, "instructions", "one out=FILE that can be written")) {
    return -1;
  }
  if (g_out == NULL) {
    fputs("memgraft instructions plugin: expected out=FILE\n", stderr);
    return -1;
  }
  g_process = getpid();
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
  qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
  qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
  return 0;
}
