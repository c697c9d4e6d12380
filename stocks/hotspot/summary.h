// What the agent writes for the command line to read: docs/formats.md, sections 2 and 3.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "join/graft.h"
#include "join/refusal.h"
#include "join/stock.h"
#include "memgraft/linux/perf_counters.h"

namespace memgraft::hotspot {

// A file in the summary folder that belongs to this process. Every write replaces the whole file at once.
class SummaryFile {
 public:
  // `kind` is the first part of the file name: "jvm" or "check".
  SummaryFile(const std::filesystem::path& folder, const std::string& kind);

  // Returns false, after one line on standard error, when the file could not be written (a full disk, say):
  // that must not stop the program.
  [[nodiscard]] bool write(const nlohmann::ordered_json& content) const;

 private:
  std::filesystem::path path_;
};

nlohmann::ordered_json describe_jvm(const Stock& stock);

// The joints of every graft, with every collector of this JVM.
nlohmann::ordered_json check_stock(const Grafts& grafts, const Stock& stock);

// The summary of a JVM that has taken these grafts.
nlohmann::ordered_json summarise_running(std::span<Graft* const> grafts, const Stock& stock);
// The same with what they have done so far.
nlohmann::ordered_json summarise_so_far(std::span<Graft* const> grafts, const Stock& stock,
                                        double wall_seconds);
// `counters` may be null: nobody asked for them.
nlohmann::ordered_json summarise_ended(std::span<Graft* const> grafts, const Stock& stock,
                                       const std::string& program, double wall_seconds,
                                       const linux_os::PerfCounters* counters);
nlohmann::ordered_json summarise_refusal(const Refusal& refusal, const Identity& identity);

}  // namespace memgraft::hotspot
