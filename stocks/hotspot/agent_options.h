// The agent's options: `-agentpath:LIBRARY=KEY=VALUE,KEY=VALUE`. docs/formats.md, section 1, lists them.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "options/graft_options.h"

namespace memgraft::hotspot {

// Those that are no graft's.
struct AgentOptions {
  std::optional<std::filesystem::path> summary_folder;
  bool counters = false;  // count what the hardware can, for the summary
  bool live = false;      // write the summary again after collections, for who watches
  bool check = false;

  friend bool operator==(const AgentOptions&, const AgentOptions&) = default;
};

// Gives each graft its own, too. Throws a Refusal with exit code 2 for anything that nobody knows, and for
// options that ask for nothing.
AgentOptions parse_options(std::string_view text, std::span<GraftOptions* const> of_grafts);

}  // namespace memgraft::hotspot
