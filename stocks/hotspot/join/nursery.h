// Where a collector's nursery has free memory: eden of Serial and Parallel, one stretch from its top to its
// end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "join/needs.h"
#include "join/vm_structs.h"

namespace memgraft::hotspot {

class Nursery {
 public:
  // How to get from a static pointer of libjvm to eden. `missing` receives the first field that was not
  // found, or that this collector has no such nursery.
  static std::optional<Nursery> find(const VmStructs& structs, Collector collector, std::string& missing);

  // [top, end) of eden as it is now: stable only while the world is stopped. Empty before the heap exists,
  // and where the pointers make no sense.
  [[nodiscard]] std::span<std::byte> free() const;

 private:
  struct Space {
    std::size_t bottom = 0;
    std::size_t top = 0;
    std::size_t end = 0;
  };
  static constexpr std::size_t kMostSteps = 2;

  std::uintptr_t root_ = 0;                      // address of the static pointer
  std::array<std::size_t, kMostSteps> steps_{};  // offsets of the pointers to follow from there
  std::size_t step_count_ = 0;
  Space space_;
};

}  // namespace memgraft::hotspot
