#include "join/needs.h"

#include "join/vm_tables.h"

namespace memgraft::hotspot {

namespace {

std::string length_prefixed(std::string_view name) { return std::to_string(name.size()) + std::string(name); }

}  // namespace

std::string mangled_method(std::string_view class_name, std::string_view method, std::string_view arguments) {
  return "_ZN" + length_prefixed(class_name) + length_prefixed(method) + "E" + std::string(arguments);
}

std::string mangled_vtable(std::string_view class_name) { return "_ZTV" + length_prefixed(class_name); }

NeededNames needed_names(std::span<const Needs* const> all_needs) {
  NeededNames names;
  names.symbols.insert(names.symbols.end(), kVmStructsSymbols.begin(), kVmStructsSymbols.end());
  names.symbols.insert(names.symbols.end(), kVmTypesSymbols.begin(), kVmTypesSymbols.end());
  names.symbols.insert(names.symbols.end(), kVmConstantsSymbols.begin(), kVmConstantsSymbols.end());
  for (const CollectorClasses& collector : kCollectors) {
    names.symbols.emplace_back(collector.flag);
    names.symbols.push_back(mangled_vtable(collector.heap_classes.front()));
  }
  for (const Needs* needs : all_needs) {
    for (const FlagNeed& flag : needs->flags) {
      names.symbols.emplace_back(flag.name);
    }
    names.symbols.insert(names.symbols.end(), needs->size_flags.begin(), needs->size_flags.end());
    for (const SlotNeed& slot : needs->slots) {
      for (const CollectorClasses& collector : kCollectors) {
        for (const std::string_view heap_class : collector.heap_classes) {
          if (!heap_class.empty()) {
            names.symbols.push_back(mangled_method(heap_class, slot.method, slot.arguments));
          }
        }
      }
    }
    names.symbols.insert(names.symbols.end(), needs->functions.begin(), needs->functions.end());
    names.symbols.insert(names.symbols.end(), needs->data.begin(), needs->data.end());
    for (const MethodNeed& method : needs->methods) {
      names.symbols.push_back(mangled_vtable(method.class_name));
      names.symbols.insert(names.symbols.end(), method.functions.begin(), method.functions.end());
    }
    for (const EntryNeed& entry : needs->entries) {
      names.symbols.emplace_back(entry.function);
    }
    for (const ImportNeed& import : needs->imports) {
      names.imports.emplace_back(import.function);
      names.symbols.insert(names.symbols.end(), import.called_by.begin(), import.called_by.end());
    }
  }
  return names;
}

}  // namespace memgraft::hotspot
