// The restartable sequence for x86-64 under Linux.
#include <sched.h>

#include <cstdint>

#include "memgraft/allocation/own_cpu.h"
#include "memgraft/linux/rseq.h"

namespace memgraft::allocation {

namespace rseq = linux_os::rseq;

unsigned own_cpu() {
  if (rseq::kAreaOfGlibc.registered()) {
    // The kernel writes it whenever the thread is scheduled. Negative where this thread is not registered.
    const auto cpu =
        static_cast<std::int32_t>(*const_cast<volatile std::uint32_t*>(&rseq::own_area()->cpu_id));
    if (cpu >= 0) {
      return static_cast<unsigned>(cpu);
    }
  }
  const int cpu = sched_getcpu();
  return cpu < 0 ? 0 : static_cast<unsigned>(cpu);
}

bool can_replace_on_cpu() {
  return rseq::kAreaOfGlibc.registered() && static_cast<std::int32_t>(rseq::own_area()->cpu_id) >= 0;
}

// NOLINTNEXTLINE(misc-const-correctness): the assembly stores to `word`.
Replaced replace_on_cpu(std::atomic<State>& word, State expected, State desired, unsigned cpu) {
  struct ::rseq* const area = rseq::own_area();
  // Stores of x86-64 are not reordered, so the last one publishes like a release store.
  asm goto(MEMGRAFT_RSEQ_BEGIN("%[sequence]") R"(
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
