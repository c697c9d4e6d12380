// The program `touching` as a child of a test.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace memgraft::observation {

class WatchedProgram {
 public:
  enum class Begin : std::uint8_t { running, stopped_before_exec };

  struct Region {
    std::uint32_t thread = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    [[nodiscard]] bool holds(std::uint64_t address) const { return begin <= address && address < end; }
  };

  explicit WatchedProgram(std::vector<std::string> arguments, Begin begin = Begin::running);
  ~WatchedProgram();  // ends it
  WatchedProgram(const WatchedProgram&) = delete;
  WatchedProgram& operator=(const WatchedProgram&) = delete;
  WatchedProgram(WatchedProgram&&) = delete;
  WatchedProgram& operator=(WatchedProgram&&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void go_on() const;  // one that is stopped
  void start_thread() const;
  [[nodiscard]] Region region() const;  // the next that the program tells of
  void end();                           // and waits for it

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  std::FILE* output_ = nullptr;
};

}  // namespace memgraft::observation
