#include "ordering/method_names.h"

#include <cstddef>
#include <cstdint>

namespace memgraft::hotspot {

namespace {

// ci/ciMetadata.hpp, JDK 17 to 25: what the compiler's object stands for.
struct CiMetadata {
  std::uintptr_t vtable;
  std::uint32_t identity;
  const void* metadata;
};
static_assert(offsetof(CiMetadata, metadata) == 16);

}  // namespace

const void* MethodNames::metadata(const void* method) {
  return method == nullptr ? nullptr : static_cast<const CiMetadata*>(method)->metadata;
}

std::string_view MethodNames::text(const void* method) const {
  const void* const found = metadata(method);
  return found == nullptr || describe_ == nullptr ? std::string_view() : describe_(found);
}

bool MethodNames::is_constructor(const void* method) const {
  return text(method).find(".<init>(") != std::string_view::npos;
}

}  // namespace memgraft::hotspot
