#include "join/annotation_layout.h"

#include <string_view>

namespace memgraft::hotspot {

std::optional<AnnotationLayout> AnnotationLayout::find(const VmStructs& structs, std::string& missing) {
  const auto lacks = [&missing](std::string_view type, std::string_view name) {
    if (missing.empty()) {
      missing = std::string(type) + "::" + std::string(name) + " in libjvm's table of structures";
    }
  };
  const auto offset = [&](std::string_view type, std::string_view name) {
    const auto found = structs.offset(type, name);
    if (!found) {
      lacks(type, name);
    }
    return found.value_or(0);
  };
  // JDK 17, then 21 and 25.
  const auto flags = structs.offset("ConstMethod", "_flags");
  const auto bit = structs.int_constant(flags ? "ConstMethod::_has_method_annotations"
                                              : "ConstMethodFlags::_misc_has_method_annotations");
  // Of these flags only the lower half is read, which is there in every version.
  if (!bit || *bit <= 0 || *bit > UINT16_MAX) {
    lacks("ConstMethod", "_has_method_annotations");
  }
  const auto pool_bytes = structs.size("ConstantPool");
  if (!pool_bytes) {
    lacks("ConstantPool", "its size");
  }
  AnnotationLayout layout{
      .method_const_method = offset("Method", "_constMethod"),
      .const_method_constants = offset("ConstMethod", "_constants"),
      .const_method_flags = flags ? *flags : offset("ConstMethod", "_flags._flags"),
      .has_method_annotations = static_cast<std::uint16_t>(bit.value_or(0)),
      .pool_bytes = pool_bytes.value_or(0),
      .pool_tags = offset("ConstantPool", "_tags"),
      .pool_length = offset("ConstantPool", "_length"),
      .pool_holder = offset("ConstantPool", "_pool_holder"),
      .class_annotations = offset("InstanceKlass", "_annotations"),
      // All arrays begin with their length (oops/array.hpp).
      .array_length = offset("Array<Klass*>", "_length"),
      .array_data = offset("Array<u1>", "_data"),
      .symbol_length = offset("Symbol", "_length"),
      .symbol_body = offset("Symbol", "_body"),
  };
  return missing.empty() ? std::optional(layout) : std::nullopt;
}

}  // namespace memgraft::hotspot
