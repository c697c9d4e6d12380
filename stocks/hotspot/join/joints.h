// From what a graft needs to the places where it enters: found exactly as expected, or refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "join/annotation_layout.h"
#include "join/needs.h"
#include "join/nursery.h"
#include "join/patch.h"
#include "join/stock.h"

namespace memgraft::hotspot {

// A pointer in libjvm that a graft will replace, and what it holds in the stock.
struct Joint {
  std::string_view name;           // the method, the imported function, or the function's mangled name
  std::uintptr_t* cell = nullptr;  // null for a function that the graft only calls
  std::uintptr_t original = 0;
};

class Joints {
 public:
  Joints(std::vector<Joint> joints, std::optional<Nursery> nursery,
         std::optional<AnnotationLayout> annotations)
      : joints_(std::move(joints)), nursery_(nursery), annotations_(annotations) {}
  // The nursery; asking for it where the needs do not is a programming error (std::logic_error).
  [[nodiscard]] const Nursery& nursery() const;
  // Where annotations are kept; the same.
  [[nodiscard]] const AnnotationLayout& annotations() const;
  // The joint of that name; asking for one that the needs do not declare is a programming error
  // (std::logic_error).
  [[nodiscard]] const Joint& at(std::string_view name) const;

 private:
  std::vector<Joint> joints_;
  std::optional<Nursery> nursery_;
  std::optional<AnnotationLayout> annotations_;
};

// Puts `replacement` into the joint, and what was there into `original`.
template <typename Function>
void take_over(Patch& patch, const Joint& joint, Function& original, Function replacement) {
  // Virtual table slots and import cells hold code addresses as integers; the joint was checked to hold a
  // function of exactly this type.
  original = reinterpret_cast<Function>(joint.original);
  patch.replace(joint.cell, reinterpret_cast<std::uintptr_t>(replacement));
}

// Checks every need against the stock running with `collector`. Throws a Refusal that names the JVM, what was
// looked for, what was found and what to do. Changes nothing.
Joints find_joints(const Needs& needs, const Stock& stock, Collector collector);

// The collector this JVM is about to start with. Throws a Refusal in the graft's name where it is not one.
Collector the_collector(const Needs& needs, const Stock& stock);

}  // namespace memgraft::hotspot
