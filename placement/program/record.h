// What memgraft-place writes: docs/formats.md, section 13.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "memgraft/observation/monitor.h"
#include "memgraft/placement/page_map.h"
#include "memgraft/placement/session.h"
#include "memgraft/placement/topology.h"
#include "options.h"

namespace memgraft::placement {

using Json = nlohmann::ordered_json;

// Lines that are there for a reader as soon as they are written.
class RecordFile {
 public:
  // Why it cannot be written; empty otherwise. An empty `file`: nothing is recorded.
  std::string open(const std::string& file);
  void write(const Json& line);
  [[nodiscard]] bool is_whole() const { return is_whole_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::string name_;
  bool is_whole_ = true;
};

struct Start {
  pid_t pid = 0;
  std::string program;
  std::uint64_t page_bytes = kPageBytes;
};

// Besides the session's figures.
struct Surroundings {
  std::uint64_t at_ms = 0;
  std::size_t threads = 0;
  double cpu_ms = 0;
  std::uint64_t kernel_moved = 0;
  std::string hindrance;  // of the monitor
};

Json start_line(const Options& options, const Start& start, const Topology& topology,
                const observation::Sees& sees, const Settings& settings);
Json interval_line(const Interval& interval, const Surroundings& around);
// Its field "map", with the kernel's numbers of the nodes.
Json map_of(const PageMap& map, const Topology& topology);

// All intervals together.
class Totals {
 public:
  explicit Totals(std::size_t nodes);
  void add(const Interval& interval, const Surroundings& around);

  struct End {
    std::uint64_t at_ms = 0;
    std::string reason;
    std::optional<int> exit_code;
    double cpu_seconds = 0;
    std::uint64_t largest_bytes = 0;
  };
  [[nodiscard]] Json end_line(const End& end) const;

 private:
  [[nodiscard]] Matrix last_quarter() const;

  std::uint64_t intervals_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t unknown_ = 0;
  std::uint64_t moved_ = 0;
  std::uint64_t moved_back_ = 0;
  std::uint64_t moved_by_neighbours_ = 0;
  std::uint64_t kernel_moved_ = 0;
  std::array<std::uint64_t, kOutcomes> outcomes_{};
  Interval last_;
  std::string hindrance_;                     // the newest
  std::array<std::uint64_t, kStays> held_{};  // of the last decision that held any
  Matrix first_;
  // By interval, or by as many as `each_`: bounded for a run of any length.
  std::vector<Matrix> accesses_;
  std::uint64_t each_ = 1;
};

}  // namespace memgraft::placement
