// The restartable sequence for x86-64 under Linux.
#include <dlfcn.h>
#include <linux/rseq.h>
#include <sched.h>

#include <cstddef>

#include "memgraft/allocation/own_cpu.h"

namespace memgraft::allocation {

namespace {

// By name at run time, so that the library also loads where glibc is older than 2.35.
struct AreaOfGlibc {
  const std::ptrdiff_t* offset = static_cast<const std::ptrdiff_t*>(dlsym(RTLD_DEFAULT, "__rseq_offset"));
  const unsigned* size = static_cast<const unsigned*>(dlsym(RTLD_DEFAULT, "__rseq_size"));

  // Zero where glibc was told not to register (GLIBC_TUNABLES) or the kernel refused.
  [[nodiscard]] bool registered() const { return offset != nullptr && size != nullptr && *size != 0; }
};
const AreaOfGlibc area_of_glibc;

// Of the calling thread; only where glibc has registered.
struct rseq* own_area() {
  std::byte* thread_pointer = nullptr;
  // The first word of a thread's control block is its own address (System V ABI, AMD64 supplement,
  // "Thread-Local Storage").
  asm("movq %%fs:0, %0" : "=r"(thread_pointer));
  // The area lies at this offset from it (glibc manual, "Restartable Sequences").
  return reinterpret_cast<struct rseq*>(thread_pointer + *area_of_glibc.offset);
}

}  // namespace

unsigned own_cpu() {
  if (area_of_glibc.registered()) {
    // The kernel writes it whenever the thread is scheduled. Negative where this thread is not registered.
    const auto cpu = static_cast<std::int32_t>(*const_cast<volatile std::uint32_t*>(&own_area()->cpu_id));
    if (cpu >= 0) {
      return static_cast<unsigned>(cpu);
    }
  }
  const int cpu = sched_getcpu();
  return cpu < 0 ? 0 : static_cast<unsigned>(cpu);
}

bool can_replace_on_cpu() {
  return area_of_glibc.registered() && static_cast<std::int32_t>(own_area()->cpu_id) >= 0;
}

Replaced replace_on_cpu(std::atomic<State>& word, State expected, State desired, unsigned cpu) {
  struct rseq* const area = own_area();
  // The kernel finds the descriptor through rseq_cs, and clears that when it makes the thread leave. The
  // abort handler is preceded by the signature that glibc registered (RSEQ_SIG of sys/rseq.h, the operand of
  // a ud1 instruction). Stores of x86-64 are not reordered, so the last one publishes like a release store.
  asm goto(
      R"(
    .pushsection __rseq_cs, "aw"
    .balign 32
1:  .long 0, 0                  # version, flags
    .quad 2f, 3f - 2f, 4f       # begin, length, abort handler
    .popsection
    .pushsection __rseq_failure, "ax"
    .byte 0x0f, 0xb9, 0x3d
    .long 0x53053053
4:  jmp 7f
    .popsection
7:  leaq 1b(%%rip), %%rax
    movq %%rax, %[sequence]
2:  cmpl %[cpu], %[cpu_id]
    jne 5f
    cmpq %[expected], %[word]
    jne 6f
    movq %[desired], %[word]
3:  jmp 8f
5:  jmp %l[moved]
6:  jmp %l[changed]
8:
)"
      :
      : [sequence] "m"(area->rseq_cs), [cpu_id] "m"(area->cpu_id), [cpu] "r"(cpu), [word] "m"(word),
        [expected] "r"(expected), [desired] "r"(desired)
      : "rax", "cc", "memory"
      : moved, changed);
  return Replaced::yes;
moved:
  return Replaced::moved;
changed:
  return Replaced::no;
}

}  // namespace memgraft::allocation
