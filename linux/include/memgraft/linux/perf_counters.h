// What the CPU counted while this process ran: cycles, cache misses, memory traffic.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memgraft/linux/owned_fd.h"
#include "memgraft/linux/perf_events.h"

namespace memgraft::linux_os {

// One of the counters, there or not.
struct Counter {
  std::string_view name;
  std::string_view unit;
  bool available = false;
  // What is counted; or why it is not, and what to do.
  std::string reason;
  // Since the counters were opened. 0 when not available.
  double value = 0;
  // Of the time the process ran, the share in which this was on a counter of the CPU. Below 1 when the events
  // are more than the counters and take turns: `value` is then scaled up by it, and is an estimate
  // (perf_event_open(2)).
  double running_share = 0;
};

// Opens every counter that there is for this thread and all threads that it, and they, start from now on: the
// first thing that an agent does, before the runtime has other threads. Of other processes it counts nothing,
// except in the memory traffic, which memory controllers know for the whole machine only (and tell a
// privileged process only).
//
// Holds a file descriptor for each event: ten at most, and two for each memory controller of each socket.
class PerfCounters {
 public:
  // `root` as in CpuLimits. `events` must live as long as this.
  explicit PerfCounters(const std::string& root = "", PerfEvents& events = PerfEvents::real());

  struct Value {
    double value = 0;
    double running_share = 0;
  };

  [[nodiscard]] std::size_t size() const { return counters_.size(); }
  // The counter of that place in read()'s list; nullopt when it is not available or never got to run. A
  // system call of some 1 us (one for each memory controller); allocates nothing.
  [[nodiscard]] std::optional<Value> value(std::size_t place) const noexcept;

  // All of them, always in the same order and always all. Allocates: not for a pause.
  [[nodiscard]] std::vector<Counter> read() const;

 private:
  // An open event, and what one count of it is worth in the counter's unit.
  struct Part {
    OwnedFd fd;
    double worth = 1;
  };
  struct Opened {
    Counter counter;
    std::vector<Part> parts;
  };

  void open_for_process(const std::string& root);
  void open_memory_traffic(const std::string& root);

  std::vector<Opened> counters_;
  PerfEvents* events_;
};

}  // namespace memgraft::linux_os
