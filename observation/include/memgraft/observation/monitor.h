// Who touches which memory of a process? Each monitor sees some of it, and says what.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "memgraft/observation/touch.h"

namespace memgraft::observation {

// What a monitor can see, as it is on this machine.
struct Sees {
  std::string name;  // as in --monitor
  std::string what;  // one line: which accesses become touches
  bool thread = false;
  bool cpu = false;
  bool store = false;  // loads and stores are told apart
  bool latency = false;
  bool every_access = false;  // else a sample
  bool splits = false;        // a transparent huge page, before it sees a touch of one of its parts
};

// A monitor that cannot work here; one line: what was looked for, what was found, what to do.
struct Refusal {
  std::string why;
};

using Sink = std::function<void(const Touch&)>;

// Watches one process and its threads, also those that begin later. One thread calls it.
class Monitor {
 public:
  Monitor() = default;
  virtual ~Monitor() = default;  // stops, and leaves nothing changed
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  Monitor(Monitor&&) = delete;
  Monitor& operator=(Monitor&&) = delete;

  [[nodiscard]] virtual const Sees& sees() const = 0;

  // Gives every touch since the last call to the sink, oldest first for each CPU. Never waits.
  virtual void drain(const Sink& sink) = 0;

  // Touches that were seen and could not be kept, since the start.
  [[nodiscard]] virtual std::uint64_t lost() const = 0;

  // What keeps it from seeing anything just now, or for good: one line; empty where nothing does.
  [[nodiscard]] virtual std::string hindrance() const { return {}; }

  // The pages around this address are used from several nodes. A huge page has one: Linux is not to make one
  // of them. False: ask again. Where a monitor cannot see to it, nobody can.
  virtual bool keep_apart(std::uint64_t /*address*/) { return true; }

  // CPU time that it took inside the observed process, as far as it can tell.
  [[nodiscard]] virtual std::uint64_t nanoseconds_inside() const { return 0; }
};

}  // namespace memgraft::observation
