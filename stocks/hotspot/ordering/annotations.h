// Which methods keep the plain Java memory model because their source says so: @memgraft.Relaxed on them or
// on their class (ordering/annotation).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "join/annotation_layout.h"

namespace memgraft::hotspot {

inline constexpr std::string_view kRelaxedDescriptor = "Lmemgraft/Relaxed;";

// AnnotationArray** ConstMethod::method_annotations_addr() const: to be called only where there are some.
inline constexpr std::string_view kMethodAnnotations = "_ZNK11ConstMethod23method_annotations_addrEv";

// Whether one of these annotations is of a wanted type. `bytes` is what a RuntimeVisibleAnnotations attribute
// holds (JVM specification, 4.7.16), `is_wanted` is asked for indices of the constant pool. Anything that is
// cut short or cannot be read ends the search: what stands behind it is not found.
bool has_annotation(std::span<const std::uint8_t> bytes,
                    const std::function<bool(std::uint16_t type_index)>& is_wanted);

// Reads what HotSpot keeps of the class file. It keeps annotations that the running program may ask for
// (RetentionPolicy.RUNTIME), and does not change them while a compiler holds the method.
class RelaxedAnnotation {
 public:
  // Where HotSpot's method has a pointer to its annotations.
  using MethodAnnotations = const void* const* (*)(const void* const_method);

  RelaxedAnnotation() = default;
  RelaxedAnnotation(const AnnotationLayout& layout, MethodAnnotations method_annotations)
      : layout_(layout), method_annotations_(method_annotations) {}

  // `method` is HotSpot's own (Method), or null.
  [[nodiscard]] bool is_on(const void* method) const;

 private:
  [[nodiscard]] bool is_among(const void* annotations, const void* pool) const;

  AnnotationLayout layout_;
  MethodAnnotations method_annotations_ = nullptr;
};

}  // namespace memgraft::hotspot
