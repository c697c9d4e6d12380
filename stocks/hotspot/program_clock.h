// CPU time of the program's own threads, apart from those of the JVM itself.
#pragma once

namespace memgraft::hotspot {

class ProgramClock {
 public:
  struct Reading {
    double wall_seconds = 0;         // CLOCK_MONOTONIC
    double process_cpu_seconds = 0;  // of every thread
    double program_cpu_seconds = 0;  // without the JVM's compilers, collectors and housekeepers
  };

  // Some microseconds per thread of the process.
  [[nodiscard]] Reading read() const;
  // CPUs that this process may use now: its affinity and its control groups' quotas.
  [[nodiscard]] double cpus() const;
};

}  // namespace memgraft::hotspot
