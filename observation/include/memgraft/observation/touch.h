// One access to memory that a monitor saw.
#pragma once

#include <cstdint>
#include <optional>

namespace memgraft::observation {

// What a monitor cannot see stays empty; Sees says what that is.
struct Touch {
  std::uint64_t address = 0;                    // in the observed process
  std::uint64_t nanoseconds = 0;                // CLOCK_MONOTONIC
  std::uint32_t thread = 0;                     // the kernel's number (gettid)
  std::uint32_t cpu = 0;                        // on which it ran
  std::optional<bool> store;                    // or a load
  std::optional<std::uint32_t> latency_cycles;  // from issue to the data's arrival, as the CPU counts it
  // Accesses that this one stands for, where the monitor knows that.
  std::optional<std::uint64_t> stands_for;
  // For how long its page was watched, by a monitor that watches a few pages at a time until they are
  // touched.
  std::optional<std::uint64_t> watched_nanoseconds;
};

}  // namespace memgraft::observation
