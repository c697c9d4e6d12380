// From what a graft needs to the places where it enters: found exactly as expected, or refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "needs.h"
#include "stock.h"

namespace memgraft::hotspot {

// A pointer in libjvm that a graft will replace, and what it holds in the stock.
struct Joint {
  std::string_view name;  // the method or the imported function
  std::uintptr_t* cell = nullptr;
  std::uintptr_t original = 0;
};

class Joints {
 public:
  explicit Joints(std::vector<Joint> joints) : joints_(std::move(joints)) {}
  // The joint of that name; asking for one that the needs do not declare is a programming error
  // (std::logic_error).
  [[nodiscard]] const Joint& at(std::string_view name) const;

 private:
  std::vector<Joint> joints_;
};

// Checks every need against the stock running with `collector`. Throws a Refusal that names the JVM, what was
// looked for, what was found and what to do. Changes nothing.
Joints find_joints(const Needs& needs, const Stock& stock, Collector collector);

// The same for the collector this JVM is about to start with.
Joints find_joints(const Needs& needs, const Stock& stock);

}  // namespace memgraft::hotspot
