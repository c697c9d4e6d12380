// Where no restartable sequence was written for the instruction set.
#include <sched.h>

#include <cstdlib>

#include "memgraft/allocation/own_cpu.h"

namespace memgraft::allocation {

unsigned own_cpu() {
  const int cpu = sched_getcpu();  // glibc itself reads the area of rseq(2) for it where that is registered
  return cpu < 0 ? 0 : static_cast<unsigned>(cpu);
}

bool can_replace_on_cpu() { return false; }

Replaced replace_on_cpu(std::atomic<State>& /*word*/, State /*expected*/, State /*desired*/,
                        unsigned /*cpu*/) {
  std::abort();  // can_replace_on_cpu() said that it cannot
}

}  // namespace memgraft::allocation
