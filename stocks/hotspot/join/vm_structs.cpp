#include "join/vm_structs.h"

#include <cstring>

#include "join/stock.h"
#include "join/vm_tables.h"

namespace memgraft::hotspot {

namespace {

template <typename T>
T read_at(const std::byte* place) {
  T value{};
  std::memcpy(static_cast<void*>(&value), place, sizeof value);
  return value;
}

// The value of one of the exported 64-bit variables; 0 where libjvm has none of that name.
std::uint64_t exported(const Stock& stock, std::string_view name) {
  const auto symbol = stock.symbol(name);
  if (!symbol || symbol->size_bytes != sizeof(std::uint64_t)) {
    return 0;
  }
  // A variable of libjvm at its loaded address; its size was just checked.
  return read_at<std::uint64_t>(reinterpret_cast<const std::byte*>(symbol->address));
}

std::string_view text_at(const std::byte* place) {
  const auto* const text = read_at<const char*>(place);
  return text == nullptr ? std::string_view{} : std::string_view{text};
}

}  // namespace

VmStructs::Named::Named(const Stock& stock, const std::array<std::string_view, 4>& symbols)
    // As below.
    : rows(reinterpret_cast<const std::byte*>(exported(stock, symbols[0]))),
      name_column(exported(stock, symbols[1])),
      value_column(exported(stock, symbols[2])),
      stride(exported(stock, symbols[3])) {
  if (stride == 0) {
    rows = nullptr;
  }
}

const std::byte* VmStructs::Named::value(std::string_view name) const {
  if (rows == nullptr) {
    return nullptr;
  }
  // The last row has no name.
  for (const std::byte* at = rows; !text_at(at + name_column).empty(); at += stride) {
    if (text_at(at + name_column) == name) {
      return at + value_column;
    }
  }
  return nullptr;
}

VmStructs::VmStructs(const Stock& stock)
    // The table's own variable is a pointer to its first row.
    : rows_(reinterpret_cast<const std::byte*>(exported(stock, kVmStructsSymbols[0]))),
      type_name_(exported(stock, kVmStructsSymbols[1])),
      field_name_(exported(stock, kVmStructsSymbols[2])),
      is_static_(exported(stock, kVmStructsSymbols[3])),
      offset_(exported(stock, kVmStructsSymbols[4])),
      address_(exported(stock, kVmStructsSymbols[5])),
      stride_(exported(stock, kVmStructsSymbols[6])),
      types_(stock, kVmTypesSymbols),
      constants_(stock, kVmConstantsSymbols) {
  if (stride_ == 0) {
    rows_ = nullptr;
  }
}

const std::byte* VmStructs::row(std::string_view type, std::string_view field) const {
  if (rows_ == nullptr) {
    return nullptr;
  }
  // The last row has no type (runtime/vmStructs.hpp, GENERATE_VM_STRUCT_LAST_ENTRY).
  for (const std::byte* at = rows_; !text_at(at + type_name_).empty(); at += stride_) {
    if (text_at(at + type_name_) == type && text_at(at + field_name_) == field) {
      return at;
    }
  }
  return nullptr;
}

std::optional<std::size_t> VmStructs::offset(std::string_view type, std::string_view field) const {
  const std::byte* const found = row(type, field);
  if (found == nullptr || read_at<std::int32_t>(found + is_static_) != 0) {
    return std::nullopt;
  }
  return read_at<std::uint64_t>(found + offset_);
}

std::optional<std::uintptr_t> VmStructs::static_address(std::string_view type, std::string_view field) const {
  const std::byte* const found = row(type, field);
  if (found == nullptr || read_at<std::int32_t>(found + is_static_) == 0) {
    return std::nullopt;
  }
  return read_at<std::uintptr_t>(found + address_);
}

std::optional<std::size_t> VmStructs::size(std::string_view type) const {
  const std::byte* const found = types_.value(type);
  return found == nullptr ? std::nullopt : std::optional<std::size_t>(read_at<std::uint64_t>(found));
}

std::optional<std::int32_t> VmStructs::int_constant(std::string_view name) const {
  const std::byte* const found = constants_.value(name);
  return found == nullptr ? std::nullopt : std::optional(read_at<std::int32_t>(found));
}

}  // namespace memgraft::hotspot
