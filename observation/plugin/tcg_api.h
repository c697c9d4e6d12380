// QEMU's plugin interface, version 1, as far as it is used here: QEMU 6.0 to 8.2. Declared from its
// documentation (QEMU, TCG Plugins: https://www.qemu.org/docs/master/devel/tcg-plugins.html), so that no
// headers of QEMU are needed, which distributions do not have. A QEMU that no longer knows version 1 refuses
// the plugin.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMGRAFT_PLUGIN_API_VERSION 1
#define MEMGRAFT_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;  // whether an access is a store, and how long
struct qemu_plugin_tb;                   // a translated block: instructions in a row
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
struct qemu_info;

enum { QEMU_PLUGIN_CB_NO_REGS = 0 };  // the callback looks at no registers
enum { QEMU_PLUGIN_MEM_RW = 3 };      // loads and stores
enum { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

// Of user mode: a system call's number and arguments, before it is made.
typedef void (*qemu_plugin_on_system_call)(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1,
                                           uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                                           uint64_t a7, uint64_t a8);
typedef void (*qemu_plugin_on_access)(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                                      void* user);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*translated)(qemu_plugin_id_t, struct qemu_plugin_tb*));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn* instruction);
// Its bytes, and where these lie in this process.
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* instruction);
void* qemu_plugin_insn_haddr(const struct qemu_plugin_insn* instruction);
// Adds to a counter, without a call, whenever the block is executed.
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* block, int operation, void* counter,
                                              uint64_t addend);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_on_system_call called);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn* instruction, qemu_plugin_on_access accessed,
                                      int flags, int which, void* user);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*at_exit)(qemu_plugin_id_t, void*),
                                    void* user);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
// Null in user mode, where there are no physical addresses. Only within the callback of the access.
struct qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr* address);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr* address);

// What a plugin has.
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info* info, int count, char** arguments);
