// Where HotSpot keeps annotations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "join/vm_structs.h"

namespace memgraft::hotspot {

// Where HotSpot keeps a method's annotations, by its own description of its structures; in bytes.
struct AnnotationLayout {
  std::size_t method_const_method = 0;
  std::size_t const_method_constants = 0;
  std::size_t const_method_flags = 0;
  std::uint16_t has_method_annotations = 0;  // of these flags
  std::size_t pool_bytes = 0;                // of a ConstantPool; its entries lie behind it, a word each
  std::size_t pool_tags = 0;
  std::size_t pool_length = 0;
  std::size_t pool_holder = 0;
  std::size_t class_annotations = 0;  // of an InstanceKlass
  std::size_t array_length = 0;
  std::size_t array_data = 0;
  std::size_t symbol_length = 0;
  std::size_t symbol_body = 0;

  // Nothing where something is not described; `missing` then says what.
  static std::optional<AnnotationLayout> find(const VmStructs& structs, std::string& missing);
};

}  // namespace memgraft::hotspot
