#include "join/nursery.h"

#include <atomic>
#include <string_view>

namespace memgraft::hotspot {

namespace {

struct Field {
  std::string_view type;
  std::string_view name;
};

using Spellings =
    std::array<Field, 2>;  // of JDK 17 and 21, and of later ones; the same twice where unchanged

constexpr Spellings same(std::string_view type, std::string_view name) {
  return {{{type, name}, {type, name}}};
}

// gc/parallel/vmStructs_parallelgc.hpp, JDK 17 to 25.
constexpr Spellings kParallelYoung = same("ParallelScavengeHeap", "_young_gen");
constexpr Spellings kParallelEden = same("PSYoungGen", "_eden_space");
constexpr std::array<Spellings, 3> kParallelSpace{same("MutableSpace", "_bottom"),
                                                  same("MutableSpace", "_top"), same("MutableSpace", "_end")};

// gc/serial/vmStructs_serial.hpp and gc/shared/vmStructs_gc.hpp; GenCollectedHeap became SerialHeap, and
// Space was merged into ContiguousSpace, in JDK 22 and 23.
constexpr Spellings kSerialHeap = same("Universe", "_collectedHeap");
constexpr Spellings kSerialYoung{{{"GenCollectedHeap", "_young_gen"}, {"SerialHeap", "_young_gen"}}};
constexpr Spellings kSerialEden = same("DefNewGeneration", "_eden_space");
constexpr std::array<Spellings, 3> kSerialSpace{{
    {{{"Space", "_bottom"}, {"ContiguousSpace", "_bottom"}}},
    same("ContiguousSpace", "_top"),
    {{{"Space", "_end"}, {"ContiguousSpace", "_end"}}},
}};

class Lookup {
 public:
  Lookup(const VmStructs& structs, std::string& missing) : structs_(structs), missing_(missing) {}

  std::size_t offset(const Spellings& field) { return first(field, &VmStructs::offset); }
  std::uintptr_t address(const Spellings& field) { return first(field, &VmStructs::static_address); }

 private:
  template <typename Value>
  Value first(const Spellings& spellings,
              std::optional<Value> (VmStructs::*look)(std::string_view, std::string_view) const) {
    for (const Field& field : spellings) {
      if (const auto found = (structs_.*look)(field.type, field.name)) {
        return *found;
      }
    }
    if (missing_.empty()) {
      missing_ = std::string(spellings[0].type) + "::" + std::string(spellings[0].name) +
                 " in libjvm's table of structures";
    }
    return 0;
  }

  const VmStructs& structs_;
  std::string& missing_;
};

std::byte* pointer_at(std::uintptr_t address) {
  // A pointer field of one of HotSpot's objects. Acquire: a top that another thread has just moved is either
  // the old or the new one, and readers outside a pause take it as a hint only.
  return std::atomic_ref<std::byte*>(*reinterpret_cast<std::byte**>(address)).load(std::memory_order_acquire);
}

std::uintptr_t to_address(const std::byte* pointer) {
  // For adding a field's offset.
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

std::optional<Nursery> Nursery::find(const VmStructs& structs, Collector collector, std::string& missing) {
  Nursery nursery;
  Lookup lookup(structs, missing);
  const auto space = [&](const std::array<Spellings, 3>& fields) {
    nursery.space_ = {
        .bottom = lookup.offset(fields[0]), .top = lookup.offset(fields[1]), .end = lookup.offset(fields[2])};
  };
  if (collector == Collector::parallel) {
    nursery.root_ = lookup.address(kParallelYoung);
    nursery.steps_ = {lookup.offset(kParallelEden)};
    nursery.step_count_ = 1;
    space(kParallelSpace);
  } else if (collector == Collector::serial) {
    nursery.root_ = lookup.address(kSerialHeap);
    nursery.steps_ = {lookup.offset(kSerialYoung), lookup.offset(kSerialEden)};
    nursery.step_count_ = 2;
    space(kSerialSpace);
  } else {
    missing = "a nursery in one piece";
  }
  return missing.empty() ? std::optional(nursery) : std::nullopt;
}

std::span<std::byte> Nursery::free() const {
  const std::byte* object = pointer_at(root_);
  for (std::size_t step = 0; step < step_count_ && object != nullptr; ++step) {
    object = pointer_at(to_address(object) + steps_.at(step));
  }
  if (object == nullptr) {
    return {};
  }
  const std::byte* const bottom = pointer_at(to_address(object) + space_.bottom);
  std::byte* const top = pointer_at(to_address(object) + space_.top);
  const std::byte* const end = pointer_at(to_address(object) + space_.end);
  if (bottom == nullptr || top < bottom || end < top) {
    return {};
  }
  return {top, static_cast<std::size_t>(end - top)};
}

}  // namespace memgraft::hotspot
