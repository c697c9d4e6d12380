// Which methods keep the plain Java memory model (`--relaxed FILE`).
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <unordered_set>

namespace memgraft::hotspot {

// One line for each: a class (java.util.HashMap), a method with any parameters (java.util.HashMap.putVal) or
// one method (java.util.HashMap.get(Ljava/lang/Object;)Ljava/lang/Object;). Empty lines and what follows `#`
// are left out.
class Relaxed {
 public:
  Relaxed() = default;
  // Throws a Refusal with exit code 2 that names the file, the line and what was expected.
  explicit Relaxed(const std::filesystem::path& file);
  // `name` is what a refusal calls it.
  Relaxed(std::istream& lines, const std::string& name);

  // `method` as HotSpot writes it: java.util.HashMap.putVal(ILjava/lang/Object;)V
  [[nodiscard]] bool contains(std::string_view method) const;
  [[nodiscard]] bool empty() const { return names_.empty(); }

 private:
  std::unordered_set<std::string> names_;
};

}  // namespace memgraft::hotspot
