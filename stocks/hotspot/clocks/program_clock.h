// CPU time of the program's own threads, apart from those of the JVM itself.
#pragma once

#include "clocks/own_threads.h"
#include "memgraft/linux/cpus.h"
#include "memgraft/linux/idle_cpus.h"
#include "memgraft/linux/thread_times.h"

namespace memgraft::hotspot {

class ProgramClock {
 public:
  struct Reading {
    double wall_seconds = 0;         // CLOCK_MONOTONIC
    double process_cpu_seconds = 0;  // of every thread but Memgraft's
    double program_cpu_seconds = 0;  // without the JVM's compilers, collectors and housekeepers either
  };

  // One thread at a time; some microseconds per thread of the process.
  Reading read();
  // CPUs that this process may use now: its affinity and its control groups' quotas.
  double cpus() { return limits_.now().usable(); }
  // Of these the idle ones, whoever runs on the others, over the last quarter of a second or so; none before
  // one is over, all where the system does not say.
  double idle_cpus();

 private:
  linux_os::ThreadWatch watch_{own_thread_kind};
  linux_os::CpuLimits limits_;
  linux_os::IdleCpus idle_;
};

}  // namespace memgraft::hotspot
