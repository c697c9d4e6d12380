#include "ordering/annotations.h"

#include <cstring>

namespace memgraft::hotspot {

namespace {

// Of annotations within annotations and of arrays: compilers of Java make neither arrays of arrays nor
// cycles.
constexpr int kDeepest = 16;

// Reads numbers of the class file format, which are big-endian; behind the end there are none.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool failed() const { return failed_; }
  void fail() { failed_ = true; }

  std::uint8_t byte() {
    if (bytes_.empty()) {
      failed_ = true;
      return 0;
    }
    const std::uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }

  std::uint16_t two_bytes() {
    const unsigned high = byte();
    return static_cast<std::uint16_t>((high << 8U) | byte());
  }

 private:
  std::span<const std::uint8_t> bytes_;
  bool failed_ = false;
};

void skip_value(Reader& reader, int depth);

void skip_pairs(Reader& reader, int depth) {
  for (unsigned pairs = reader.two_bytes(); pairs > 0 && !reader.failed(); --pairs) {
    (void)reader.two_bytes();  // the element's name
    skip_value(reader, depth);
  }
}

// element_value (JVM specification, 4.7.16.1)
void skip_value(Reader& reader, int depth) {
  if (depth > kDeepest) {
    reader.fail();
    return;
  }
  switch (reader.byte()) {
    case 'B':
    case 'C':
    case 'D':
    case 'F':
    case 'I':
    case 'J':
    case 'S':
    case 'Z':
    case 's':
    case 'c':
      (void)reader.two_bytes();
      break;
    case 'e':
      (void)reader.two_bytes();
      (void)reader.two_bytes();
      break;
    case '@':
      (void)reader.two_bytes();
      skip_pairs(reader, depth + 1);
      break;
    case '[':
      for (unsigned values = reader.two_bytes(); values > 0 && !reader.failed(); --values) {
        skip_value(reader, depth + 1);
      }
      break;
    default:
      reader.fail();
  }
}

// A field of one of HotSpot's structures, at the place that HotSpot's own table names.
template <typename T>
T field(const void* object, std::size_t offset) {
  T value{};
  std::memcpy(static_cast<void*>(&value), static_cast<const std::byte*>(object) + offset, sizeof value);
  return value;
}

// JVM specification, table 4.4-A; HotSpot's tags of resolved entries are others.
constexpr std::uint8_t kUtf8 = 1;

}  // namespace

bool has_annotation(std::span<const std::uint8_t> bytes,
                    const std::function<bool(std::uint16_t type_index)>& is_wanted) {
  Reader reader(bytes);
  for (unsigned annotations = reader.two_bytes(); annotations > 0; --annotations) {
    const std::uint16_t type = reader.two_bytes();
    if (reader.failed()) {
      return false;
    }
    if (is_wanted(type)) {
      return true;
    }
    skip_pairs(reader, 0);
  }
  return false;
}

bool RelaxedAnnotation::is_on(const void* method) const {
  if (method == nullptr || method_annotations_ == nullptr) {
    return false;
  }
  const auto* const const_method = field<const void*>(method, layout_.method_const_method);
  const auto* const pool = field<const void*>(const_method, layout_.const_method_constants);
  const auto flags = field<std::uint16_t>(const_method, layout_.const_method_flags);
  if ((flags & layout_.has_method_annotations) != 0 && is_among(*method_annotations_(const_method), pool)) {
    return true;
  }
  const auto* const holder = field<const void*>(pool, layout_.pool_holder);
  const auto* const of_class = field<const void*>(holder, layout_.class_annotations);
  // oops/annotations.hpp, JDK 17 to 25: those of the class itself come first (JDK 25 says so in its table).
  return of_class != nullptr && is_among(field<const void*>(of_class, 0), pool);
}

// `annotations` is a u1 array of HotSpot's, or null.
bool RelaxedAnnotation::is_among(const void* annotations, const void* pool) const {
  if (annotations == nullptr) {
    return false;
  }
  const auto length = field<std::int32_t>(annotations, layout_.array_length);
  const std::span<const std::uint8_t> bytes(
      static_cast<const std::uint8_t*>(annotations) + layout_.array_data,
      length > 0 ? static_cast<std::size_t>(length) : 0);
  return has_annotation(bytes, [&](std::uint16_t index) {
    const auto* const tags = field<const void*>(pool, layout_.pool_tags);
    if (index == 0 || index >= field<std::int32_t>(pool, layout_.pool_length) ||
        field<std::uint8_t>(tags, layout_.array_data + index) != kUtf8) {
      return false;
    }
    const auto* const symbol = field<const std::byte*>(pool, layout_.pool_bytes + index * sizeof(void*));
    return field<std::uint16_t>(symbol, layout_.symbol_length) == kRelaxedDescriptor.size() &&
           std::memcmp(symbol + layout_.symbol_body, kRelaxedDescriptor.data(), kRelaxedDescriptor.size()) ==
               0;
  });
}

}  // namespace memgraft::hotspot
