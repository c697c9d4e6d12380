// Binds the threads of a process to CPUs, as the thesis does (Tikir 2005, section 3.1.3), and takes it back.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "memgraft/placement/topology.h"

namespace memgraft::placement {

// Round robin over the nodes, and on each over its CPUs: the first threads of a program have a node each.
// Only CPUs that the thread may use anyway. At its end it gives each thread back what it had, unless the
// thread lives no more or was given other CPUs meanwhile.
class Binding {
 public:
  Binding(pid_t process, const Topology& topology);
  ~Binding() { undo(); }
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;
  Binding(Binding&&) = delete;
  Binding& operator=(Binding&&) = delete;

  // Threads that came since the last call. A thread begins with the CPUs of the one that started it, so what
  // it is given back is what the first thread of the process had.
  void bind_new();
  void undo();

  [[nodiscard]] std::size_t bound() const { return threads_.size(); }

 private:
  struct Bound {
    cpu_set_t before;
    cpu_set_t now;
  };

  pid_t process_;
  std::vector<unsigned> order_;  // CPUs
  std::size_t next_ = 0;
  std::map<pid_t, Bound> threads_;
};

}  // namespace memgraft::placement
