// HotSpot's own description of its data structures: where a field of a class lies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memgraft::hotspot {

class Stock;

// The table, then where its columns are in each row and how long a row is: libjvm exports them for the
// serviceability agent (runtime/vmStructs.cpp), so that no layout need be assumed.
inline constexpr std::array<std::string_view, 7> kVmStructsSymbols{"gHotSpotVMStructs",
                                                                   "gHotSpotVMStructEntryTypeNameOffset",
                                                                   "gHotSpotVMStructEntryFieldNameOffset",
                                                                   "gHotSpotVMStructEntryIsStaticOffset",
                                                                   "gHotSpotVMStructEntryOffsetOffset",
                                                                   "gHotSpotVMStructEntryAddressOffset",
                                                                   "gHotSpotVMStructEntryArrayStride"};

class VmStructs {
 public:
  explicit VmStructs(const Stock& stock);

  // Byte offset of an instance's field; nothing where the table, the type or the field is missing.
  [[nodiscard]] std::optional<std::size_t> offset(std::string_view type, std::string_view field) const;
  // Address of a static field.
  [[nodiscard]] std::optional<std::uintptr_t> static_address(std::string_view type,
                                                             std::string_view field) const;

 private:
  [[nodiscard]] const std::byte* row(std::string_view type, std::string_view field) const;

  const std::byte* rows_ = nullptr;  // null: no table
  std::size_t type_name_ = 0;
  std::size_t field_name_ = 0;
  std::size_t is_static_ = 0;
  std::size_t offset_ = 0;
  std::size_t address_ = 0;
  std::size_t stride_ = 0;
};

}  // namespace memgraft::hotspot
