// Touches in a file: docs/formats.md, section 14.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "memgraft/observation/monitor.h"
#include "memgraft/observation/touch.h"

namespace memgraft::observation {

// What is said before the touches.
struct TouchFileHeader {
  std::uint32_t page_bytes = 4096;
  std::uint32_t nodes = 0;                 // 0: not known
  std::vector<std::uint32_t> node_of_cpu;  // empty: not known
  // Accesses that each touch stands for, where the monitor knew that.
  std::optional<std::uint64_t> stands_for;
  bool knows_thread = false;
  bool knows_cpu = false;
  bool every_access = false;
};

class TouchWriter {
 public:
  static std::variant<TouchWriter, Refusal> open(const std::string& file, const TouchFileHeader& header);
  void write(const Touch& touch);
  // What could not be written, after all was.
  std::optional<Refusal> close();

 private:
  struct Close {
    void operator()(std::FILE* stream) const { static_cast<void>(std::fclose(stream)); }
  };
  TouchWriter(std::string file, std::FILE* stream) : file_(std::move(file)), stream_(stream) {}

  std::string file_;
  std::unique_ptr<std::FILE, Close> stream_;
};

class TouchReader {
 public:
  static std::variant<TouchReader, Refusal> open(const std::string& file);

  [[nodiscard]] const TouchFileHeader& header() const { return header_; }
  // False at the end, which in a file that was cut is after the last whole touch.
  bool next(Touch& touch);

 private:
  struct Close {
    void operator()(std::FILE* stream) const { static_cast<void>(std::fclose(stream)); }
  };
  explicit TouchReader(std::FILE* stream) : stream_(stream) {}
  std::optional<Refusal> read_header(const std::string& file);

  std::unique_ptr<std::FILE, Close> stream_;
  TouchFileHeader header_;
};

}  // namespace memgraft::observation
