// HotSpot's own description of its data structures: where a field of a class lies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memgraft::hotspot {

class Stock;

class VmStructs {
 public:
  explicit VmStructs(const Stock& stock);

  // Byte offset of an instance's field; nothing where the table, the type or the field is missing.
  [[nodiscard]] std::optional<std::size_t> offset(std::string_view type, std::string_view field) const;
  // Address of a static field.
  [[nodiscard]] std::optional<std::uintptr_t> static_address(std::string_view type,
                                                             std::string_view field) const;
  // How many bytes an object of that type has.
  [[nodiscard]] std::optional<std::size_t> size(std::string_view type) const;
  // The value of one of HotSpot's constants, bits of flags above all.
  [[nodiscard]] std::optional<std::int32_t> int_constant(std::string_view name) const;

 private:
  // A table of names with a value each.
  struct Named {
    Named(const Stock& stock, const std::array<std::string_view, 4>& symbols);
    // Where the value of that name is, or null.
    [[nodiscard]] const std::byte* value(std::string_view name) const;

    const std::byte* rows = nullptr;  // null: no table
    std::size_t name_column = 0;
    std::size_t value_column = 0;
    std::size_t stride = 0;
  };

  [[nodiscard]] const std::byte* row(std::string_view type, std::string_view field) const;

  const std::byte* rows_ = nullptr;  // null: no table
  std::size_t type_name_ = 0;
  std::size_t field_name_ = 0;
  std::size_t is_static_ = 0;
  std::size_t offset_ = 0;
  std::size_t address_ = 0;
  std::size_t stride_ = 0;
  Named types_;
  Named constants_;
};

}  // namespace memgraft::hotspot
