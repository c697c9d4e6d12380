// On which CPU a thread runs, and changing a word only while it still runs there.
#pragma once

#include <atomic>
#include <cstdint>

#include "memgraft/allocation/buffer.h"

namespace memgraft::allocation {

// The CPU on which the calling thread runs now: from the area that glibc registered with rseq(2), a load,
// where there is one; else getcpu(2). Never registers an area.
unsigned own_cpu();

// Whether replace_on_cpu() works here: glibc has registered (since 2.35), Linux has rseq(2) (since 4.18), and
// the sequence was written for this instruction set.
bool can_replace_on_cpu();

// Stores `desired` if the thread runs on `cpu` and the word is `expected`, without an atomic instruction: in
// a restartable sequence (rseq(2)), which Linux makes a thread begin anew when it was preempted, moved
// or interrupted by a signal inside. So it is atomic towards other threads of that CPU, and only towards
// them: everybody who changes the word must do so by this function with the same `cpu`, or know that nobody
// else may.
Replaced replace_on_cpu(std::atomic<State>& word, State expected, State desired, unsigned cpu);

}  // namespace memgraft::allocation
