// A process that a test makes up, and the monitor that watches it.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fake_rings.h"
#include "fake_root.h"
#include "memgraft/observation/monitor.h"

namespace memgraft::observation {

inline constexpr pid_t kProcess = 4711;
inline constexpr pid_t kOther = 4712;  // its second thread

class MadeUpProcess : public testing::Test {
 protected:
  void thread(pid_t number) const {
    root_.write("/proc/" + std::to_string(kProcess) + "/task/" + std::to_string(number) + "/comm", "cg\n");
  }
  // What watching it came to: a monitor, or why there is none.
  void keep(std::variant<std::unique_ptr<Monitor>, Refusal> watching) {
    if (const Refusal* const refusal = std::get_if<Refusal>(&watching)) {
      why_ = refusal->why;
    } else {
      monitor_ = std::get<std::unique_ptr<Monitor>>(std::move(watching));
    }
  }
  std::vector<Touch> drained() {
    std::vector<Touch> touches;
    monitor_->drain([&](const Touch& touch) { touches.push_back(touch); });
    return touches;
  }

  linux_os::FakeRoot root_;
  linux_os::FakeRings events_;
  std::unique_ptr<Monitor> monitor_;
  std::string why_;
};

}  // namespace memgraft::observation
