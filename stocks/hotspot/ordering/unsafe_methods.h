// Methods in which an access was found that passed the graft by: some by name, for messages.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace memgraft::hotspot::c2 {

// Any thread may add one.
class UnsafeMethods {
 public:
  void add(std::string_view name) {
    const std::scoped_lock lock(mutex_);
    if (names_.size() < kMostNames) {
      names_.emplace_back(name);
    }
  }

  [[nodiscard]] std::vector<std::string> some() {
    const std::scoped_lock lock(mutex_);
    return names_;
  }

 private:
  static constexpr std::size_t kMostNames = 20;

  std::mutex mutex_;
  std::vector<std::string> names_;
};

}  // namespace memgraft::hotspot::c2
