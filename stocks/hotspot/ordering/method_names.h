// Which method of the program a compiler's method is.
#pragma once

#include <string>
#include <string_view>

namespace memgraft::hotspot {

// char* Method::name_and_sig_as_C_string() const
inline constexpr std::string_view kMethodText = "_ZNK6Method24name_and_sig_as_C_stringEv";

class MethodNames {
 public:
  // `describe` is HotSpot's own function.
  using Describe = const char* (*)(const void* method);
  explicit MethodNames(Describe describe = nullptr) : describe_(describe) {}

  // A compiler's method (ciMethod), or null: "java.lang.String.charAt(I)C". To be called by compiler threads
  // only, into whose resource area HotSpot writes it.
  [[nodiscard]] std::string_view text(const void* method) const;
  [[nodiscard]] bool is_constructor(const void* method) const;
  // HotSpot's own method (Method) that a compiler's is, or null.
  [[nodiscard]] static const void* metadata(const void* method);

 private:
  Describe describe_;
};

}  // namespace memgraft::hotspot
