// For plugins that see every load and store.
#pragma once

#include "tcg_api.h"

// From now on `accessed` is called at each access of a block that was just translated.
static inline void call_at_each_access(struct qemu_plugin_tb* block, qemu_plugin_on_access accessed) {
  const size_t instructions = qemu_plugin_tb_n_insns(block);
  for (size_t i = 0; i < instructions; ++i) {
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), accessed, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW, NULL);
  }
}
