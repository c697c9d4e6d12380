// A folder that holds a /proc and a /sys as a test wants them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace memgraft::linux_os {

class FakeRoot {
 public:
  FakeRoot() {
    static int made = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("memgraft-linux-" + std::to_string(getpid()) + "-" + std::to_string(made++));
    std::filesystem::create_directories(folder_);
  }
  ~FakeRoot() { std::filesystem::remove_all(folder_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  FakeRoot(FakeRoot&&) = delete;
  FakeRoot& operator=(FakeRoot&&) = delete;

  // `path` starts with a slash.
  void write(std::string_view path, std::string_view content) const {
    const std::filesystem::path file = this->path() + std::string(path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    ASSERT_TRUE(std::filesystem::is_regular_file(file)) << file;
  }
  void remove(std::string_view path) const { std::filesystem::remove(this->path() + std::string(path)); }

  [[nodiscard]] std::string path() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace memgraft::linux_os
