// Restartable sequences (rseq(2), Linux 4.18): stretches of instructions that the kernel makes a thread leave
// if it is found inside when it was preempted, moved to another CPU or interrupted by a signal. glibc
// registers the area that they need for every thread since 2.35; no area is ever registered here. x86-64
// only.
#pragma once

#include <dlfcn.h>
#include <linux/rseq.h>

#include <cstddef>

namespace memgraft::linux_os::rseq {

// Where glibc keeps the area of each thread. By name at run time, so that libraries also load where glibc is
// older than 2.35.
struct AreaOfGlibc {
  const std::ptrdiff_t* offset = static_cast<const std::ptrdiff_t*>(dlsym(RTLD_DEFAULT, "__rseq_offset"));
  const unsigned* size = static_cast<const unsigned*>(dlsym(RTLD_DEFAULT, "__rseq_size"));

  // Whether glibc knows of such areas at all.
  [[nodiscard]] bool known() const { return offset != nullptr && size != nullptr; }
  // Not where glibc was told not to register (GLIBC_TUNABLES) or the kernel refused.
  [[nodiscard]] bool registered() const { return known() && *size != 0; }
};
inline const AreaOfGlibc kAreaOfGlibc;

// Of the calling thread; only where glibc has registered. Its cpu_id is negative where this thread is not
// registered all the same (linux/rseq.h).
inline struct ::rseq* own_area() {
  std::byte* thread_pointer = nullptr;
  // The first word of a thread's control block is its own address (System V ABI, AMD64 supplement,
  // "Thread-Local Storage").
  asm("movq %%fs:0, %0" : "=r"(thread_pointer));
  // The area lies at this offset from it (glibc manual, "Restartable Sequences").
  return reinterpret_cast<struct ::rseq*>(thread_pointer + *kAreaOfGlibc.offset);
}

}  // namespace memgraft::linux_os::rseq

// What every sequence begins with, for `asm goto`. `area` is the operand that is the thread's rseq_cs, as
// text; the code behind this uses rax as it likes, and has its restartable part between the labels 2 and 3,
// which it must define. The kernel finds the descriptor through rseq_cs, and clears that when it makes the
// thread leave; then everything begins anew. The abort handler is preceded by the signature that glibc
// registered (RSEQ_SIG of sys/rseq.h, the operand of a ud1 instruction).
#define MEMGRAFT_RSEQ_BEGIN(area)                                  \
  ".pushsection __rseq_cs, \"aw\"\n"                               \
  ".balign 32\n"                                                   \
  "1:  .long 0, 0\n"            /* version, flags */               \
  "    .quad 2f, 3f - 2f, 4f\n" /* begin, length, abort handler */ \
  ".popsection\n"                                                  \
  ".pushsection __rseq_failure, \"ax\"\n"                          \
  ".byte 0x0f, 0xb9, 0x3d\n"                                       \
  ".long 0x53053053\n"                                             \
  "4:  jmp 7f\n"                                                   \
  ".popsection\n"                                                  \
  "7:  leaq 1b(%%rip), %%rax\n"                                    \
  "    movq %%rax, " area "\n"
