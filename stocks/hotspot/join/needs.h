// What a graft needs of a HotSpot, declared as data: one table per graft, checked by joints.cpp, never by
// hand.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace memgraft::hotspot {

enum class Collector : std::uint8_t { serial, parallel, g1, z, shenandoah, epsilon };

// A collector as libjvm knows it: the flag that selects it and the classes of its heap, most derived first. A
// virtual method of the heap is implemented by the first of them that has it.
struct CollectorClasses {
  Collector collector;
  std::string_view name;
  std::string_view flag;
  std::array<std::string_view, 3> heap_classes;
};

// Class names as of JDK 17 to 25 (src/hotspot/share/gc/*). GenCollectedHeap was merged into SerialHeap in 22.
inline constexpr std::array<CollectorClasses, 6> kCollectors{{
    {Collector::serial, "Serial", "UseSerialGC", {"SerialHeap", "GenCollectedHeap", "CollectedHeap"}},
    {Collector::parallel, "Parallel", "UseParallelGC", {"ParallelScavengeHeap", "CollectedHeap", ""}},
    {Collector::g1, "G1", "UseG1GC", {"G1CollectedHeap", "CollectedHeap", ""}},
    {Collector::z, "Z", "UseZGC", {"ZCollectedHeap", "CollectedHeap", ""}},
    {Collector::shenandoah, "Shenandoah", "UseShenandoahGC", {"ShenandoahHeap", "CollectedHeap", ""}},
    {Collector::epsilon, "Epsilon", "UseEpsilonGC", {"EpsilonHeap", "CollectedHeap", ""}},
}};

constexpr const CollectorClasses& classes_of(Collector collector) {
  return kCollectors.at(static_cast<std::size_t>(collector));
}

// A boolean -XX flag that must have a value, and what the user types to give it that value.
struct FlagNeed {
  std::string_view name;
  bool value;
  std::string_view option;
  bool may_be_absent = false;  // from a libjvm that was built without what the flag is about
};

// A virtual method of the collector's heap, to be replaced in its vtable. `arguments` is the Itanium-ABI
// mangling of the parameter types: a method whose signature changed is thereby another method, and not found.
struct SlotNeed {
  std::string_view method;
  std::string_view arguments;
};

// A function of another library, to be replaced in libjvm's import table; `called_by` names the functions
// (mangled; one per spelling that JDK versions gave it) from whose code the import must be called: that call
// is what the graft lives on.
struct ImportNeed {
  std::string_view function;
  std::span<const std::string_view> called_by;
};

// A virtual method of a class other than the heap's, to be replaced in that class's vtable. `functions` are
// the mangled names of what the slot holds; one per spelling that JDK versions gave it.
struct MethodNeed {
  std::string_view name;        // by which the joint is asked for
  std::string_view class_name;  // whose vtable it is
  std::span<const std::string_view> functions;
};

// A function of libjvm that is called directly: a jump to the graft's own is put at its entry.
struct EntryNeed {
  std::string_view function;  // mangled
};

// Every need of one way of joining. A graft may have several ways (zeroing has one per family of strategies).
struct Needs {
  std::string_view graft;
  // Feature versions for which somebody has read the sources and the tests run. What a joint relies on beyond
  // names and layout (the order of two calls, say) can only be known that way.
  std::span<const int> features;
  std::span<const Collector> collectors;
  std::span<const FlagNeed> flags;
  std::span<const SlotNeed> slots;
  std::span<const ImportNeed> imports;
  // Functions of libjvm that the graft calls, by their mangled names.
  std::span<const std::string_view> functions;
  // Variables and tables of libjvm that the graft reads or sets, by their mangled names.
  std::span<const std::string_view> data;
  std::span<const MethodNeed> methods;
  std::span<const EntryNeed> entries;
  // -XX flags that are sizes and that the graft reads with some collectors only: a libjvm without these
  // collectors has no such flags.
  std::span<const std::string_view> size_flags;
  // Whether the graft must know where the nursery's free memory begins and ends.
  bool nursery = false;
  // Whether the graft must know where methods and classes keep their annotations.
  bool annotations = false;
  // What does the same without these joints in JVMs from `otherwise_from` on; null: nothing does.
  const char* otherwise = nullptr;
  int otherwise_from = 0;
};

// `_ZN9HeapClass6methodEarguments`
std::string mangled_method(std::string_view class_name, std::string_view method, std::string_view arguments);
// `_ZTV9HeapClass`
std::string mangled_vtable(std::string_view class_name);

// Every symbol, and every import, that these needs could ask for, whatever the collector.
struct NeededNames {
  std::vector<std::string> symbols;
  std::vector<std::string> imports;
};
NeededNames needed_names(std::span<const Needs* const> all_needs);

}  // namespace memgraft::hotspot
