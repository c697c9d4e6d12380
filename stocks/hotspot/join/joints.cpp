#include "join/joints.h"

#include <dlfcn.h>

#include <algorithm>
#include <stdexcept>

#include "join/call_site.h"
#include "join/entry.h"
#include "join/refusal.h"

namespace memgraft::hotspot {

namespace {

// A vtable begins with the offset to the top and the type information; the slots follow (Itanium C++
// ABI, 2.5.2).
constexpr std::size_t kVtableHeaderWords = 2;

class Finder {
 public:
  Finder(const Needs& needs, const Stock& stock, Collector collector)
      : needs_(needs), stock_(stock), collector_(classes_of(collector)) {}

  void check_version() const {
    const int feature = stock_.identity().feature;
    if (std::ranges::find(needs_.features, feature) == needs_.features.end()) {
      refuse("JDK " + alternatives(needs_.features, [](int known) { return std::to_string(known); }),
             "JDK " + std::to_string(feature),
             "run the program on one of these versions; `memgraft doctor` lists the JVMs of this machine");
    }
  }

  void check_collector() const {
    if (std::ranges::find(needs_.collectors, collector_.collector) == needs_.collectors.end()) {
      refuse("a collector that the graft knows (" +
                 alternatives(needs_.collectors,
                              [](Collector known) { return std::string(classes_of(known).name); }) +
                 ")",
             "the " + std::string(collector_.name) + " collector",
             "choose another one, for example with -XX:+UseParallelGC");
    }
    if (!stock_.has_collector(collector_.collector)) {
      refuse("the " + std::string(collector_.name) + " collector", "a libjvm built without it",
             "choose a collector that this JVM has");
    }
  }

  void check_flags() const {
    for (const FlagNeed& flag : needs_.flags) {
      const auto value = stock_.flag(flag.name);
      if (!value && flag.may_be_absent) {
        continue;
      }
      if (!value) {
        refuse("the flag " + std::string(flag.name), "no such flag in this libjvm",
               "use a JDK that still has it; `memgraft doctor` lists the JVMs of this machine");
      }
      if (*value != flag.value) {
        refuse(std::string(flag.option), std::string("-XX:") + (*value ? "+" : "-") + std::string(flag.name),
               "remove that option from the command; `memgraft run` sets what HotSpot does not by default");
      }
    }
  }

  [[nodiscard]] Joint find_slot(const SlotNeed& need) const {
    return find_slot(need.method, mangled_vtable(collector_.heap_classes.front()), implementation_of(need));
  }

  [[nodiscard]] Joint find_method(const MethodNeed& need) const {
    for (const std::string_view name : need.functions) {
      if (const auto function = stock_.symbol(name)) {
        return find_slot(need.name, mangled_vtable(need.class_name), *function);
      }
    }
    refuse(
        "the method " + alternatives(need.functions, [](std::string_view name) { return std::string(name); }),
        "no such symbol in libjvm", kOtherBuild);
  }

  [[nodiscard]] Joint find_entry(const EntryNeed& need) const {
    Joint joint = find_function(need.function);
    if (!can_hook_entry(stock_.code(need.function).function)) {
      refuse("a first few instructions of " + std::string(need.function) + " that can run elsewhere",
             "others", kOtherBuild);
    }
    return joint;
  }

  [[nodiscard]] Joint find_import(const ImportNeed& need) const {
    const std::string function(need.function);
    const std::vector<std::uintptr_t*> cells = stock_.import_cells(function);
    if (cells.size() != 1) {
      refuse("one import of " + function + " in libjvm", std::to_string(cells.size()) + " of them",
             kOtherBuild);
    }
    check_called(need, cells);
    Joint joint{.name = need.function, .cell = cells.front(), .original = *cells.front()};
    if (stock_.contains(joint.original)) {
      // Bound lazily and not yet called: calling through the stub would let the dynamic linker overwrite the
      // graft with the function it finds (ld.so(8), LD_BIND_NOW).
      joint.original = resolve(function);
    }
    return joint;
  }

  [[nodiscard]] Joint find_function(std::string_view name) const {
    const auto function = stock_.symbol(name);
    if (!function || stock_.code(name).function.empty()) {
      refuse("the function " + std::string(name), "no such symbol in libjvm's code", kOtherBuild);
    }
    return {.name = name, .cell = nullptr, .original = function->address};
  }

  [[nodiscard]] Joint find_data(std::string_view name) const {
    const auto data = stock_.symbol(name);
    if (!data || data->address % sizeof(std::uintptr_t) != 0 || data->size_bytes < sizeof(std::uintptr_t)) {
      refuse("the variable " + std::string(name), "no such symbol in libjvm", kOtherBuild);
    }
    // A variable that holds a pointer, or a table of them.
    auto* const cell = reinterpret_cast<std::uintptr_t*>(data->address);
    return {.name = name, .cell = cell, .original = *cell};
  }

  [[nodiscard]] Nursery find_nursery() const {
    std::string missing;
    const auto nursery = Nursery::find(VmStructs(stock_), collector_.collector, missing);
    if (!nursery) {
      refuse(missing, "none", kOtherBuild);
    }
    return *nursery;
  }

  [[nodiscard]] AnnotationLayout find_annotations() const {
    std::string missing;
    const auto annotations = AnnotationLayout::find(VmStructs(stock_), missing);
    if (!annotations) {
      refuse(missing, "none", kOtherBuild);
    }
    return *annotations;
  }

 private:
  static constexpr const char* kOtherBuild =
      "use another build of this JDK (Debian's and Temurin's are tested), and report this one";

  [[nodiscard]] Joint find_slot(std::string_view name, const std::string& vtable_name,
                                const LoadedSymbol& method) const {
    const auto vtable = stock_.symbol(vtable_name);
    if (!vtable || vtable->size_bytes % sizeof(std::uintptr_t) != 0 ||
        vtable->size_bytes / sizeof(std::uintptr_t) <= kVtableHeaderWords) {
      refuse("the virtual table " + vtable_name, "none, or one of a size that no virtual table has",
             kOtherBuild);
    }
    // A virtual table is an array of code pointers behind its header; the symbol's size was just checked.
    const std::span<std::uintptr_t> words(reinterpret_cast<std::uintptr_t*>(vtable->address),
                                          vtable->size_bytes / sizeof(std::uintptr_t));
    Joint joint{.name = name, .original = method.address};
    for (std::uintptr_t& slot : words.subspan(kVtableHeaderWords)) {
      if (slot == method.address) {
        if (joint.cell != nullptr) {
          refuse("one slot of " + vtable_name + " that holds " + std::string(name), "more than one",
                 kOtherBuild);
        }
        joint.cell = &slot;
      }
    }
    if (joint.cell == nullptr) {
      refuse("the slot of " + vtable_name + " that holds " + std::string(name),
             "no slot with the address of that method", kOtherBuild);
    }
    return joint;
  }

  [[noreturn]] void refuse(std::string looked_for, std::string found, std::string advice) const {
    if (needs_.otherwise != nullptr && stock_.identity().feature >= needs_.otherwise_from) {
      advice += std::string("; or ") + needs_.otherwise;
    }
    throw Refusal(
        "the " + std::string(needs_.graft) + " graft cannot join " + stock_.description(),
        {.looked_for = std::move(looked_for), .found = std::move(found), .advice = std::move(advice)},
        kExitCannotTakeGraft);
  }

  template <typename T, typename Name>
  static std::string alternatives(std::span<const T> values, Name name) {
    std::string list;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) {
        list += i + 1 == values.size() ? " or " : ", ";
      }
      list += name(values[i]);
    }
    return list;
  }

  [[nodiscard]] LoadedSymbol implementation_of(const SlotNeed& need) const {
    std::string tried;
    for (const std::string_view heap_class : collector_.heap_classes) {
      if (heap_class.empty()) {
        continue;
      }
      const std::string name = mangled_method(heap_class, need.method, need.arguments);
      if (const auto method = stock_.symbol(name)) {
        return *method;
      }
      tried += (tried.empty() ? "" : " or ") + name;
    }
    refuse("the method " + tried, "no such symbol in libjvm", kOtherBuild);
  }

  void check_called(const ImportNeed& need, std::span<std::uintptr_t* const> cells) const {
    const auto caller = std::ranges::find_if(
        need.called_by, [this](std::string_view name) { return stock_.symbol(name).has_value(); });
    if (caller == need.called_by.end()) {
      refuse("the function " +
                 alternatives(need.called_by, [](std::string_view name) { return std::string(name); }),
             "no such symbol in libjvm", kOtherBuild);
    }
    const auto code = stock_.code(*caller);
    const std::size_t calls = calls_through(code.function, code.segment, cells);
    if (calls != 1) {
      refuse("one call of " + std::string(need.function) + " in " + std::string(*caller),
             std::to_string(calls) + " of them", kOtherBuild);
    }
  }

  [[nodiscard]] std::uintptr_t resolve(const std::string& function) const {
    void* const address = dlsym(RTLD_DEFAULT, function.c_str());
    if (address == nullptr) {
      refuse("the function " + function, "none loaded", kOtherBuild);
    }
    // dlsym gives functions as data pointers (POSIX dlsym(3)).
    return reinterpret_cast<std::uintptr_t>(address);
  }

  const Needs& needs_;
  const Stock& stock_;
  const CollectorClasses& collector_;
};

}  // namespace

const Joint& Joints::at(std::string_view name) const {
  const auto found = std::ranges::find(joints_, name, &Joint::name);
  if (found == joints_.end()) {
    throw std::logic_error("undeclared joint " + std::string(name));
  }
  return *found;
}

const Nursery& Joints::nursery() const {
  if (!nursery_) {
    throw std::logic_error("undeclared nursery");
  }
  return *nursery_;
}

const AnnotationLayout& Joints::annotations() const {
  if (!annotations_) {
    throw std::logic_error("undeclared annotations");
  }
  return *annotations_;
}

Joints find_joints(const Needs& needs, const Stock& stock, Collector collector) {
  const Finder finder(needs, stock, collector);
  finder.check_version();
  finder.check_collector();
  finder.check_flags();
  std::vector<Joint> joints;
  for (const SlotNeed& slot : needs.slots) {
    joints.push_back(finder.find_slot(slot));
  }
  for (const ImportNeed& import : needs.imports) {
    joints.push_back(finder.find_import(import));
  }
  for (const std::string_view function : needs.functions) {
    joints.push_back(finder.find_function(function));
  }
  for (const std::string_view data : needs.data) {
    joints.push_back(finder.find_data(data));
  }
  for (const MethodNeed& method : needs.methods) {
    joints.push_back(finder.find_method(method));
  }
  for (const EntryNeed& entry : needs.entries) {
    joints.push_back(finder.find_entry(entry));
  }
  return {std::move(joints), needs.nursery ? std::optional(finder.find_nursery()) : std::nullopt,
          needs.annotations ? std::optional(finder.find_annotations()) : std::nullopt};
}

Collector the_collector(const Needs& needs, const Stock& stock) {
  const auto collector = stock.collector();
  if (!collector) {
    throw Refusal("the " + std::string(needs.graft) + " graft cannot join " + stock.description(),
                  {.looked_for = "the one collector this JVM will use",
                   .found = "none, or several, of the flags Use...GC set",
                   .advice = "name one, for example -XX:+UseParallelGC"},
                  kExitCannotTakeGraft);
  }
  return *collector;
}

}  // namespace memgraft::hotspot
