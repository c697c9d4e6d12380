// The agent's options: `-agentpath:LIBRARY=KEY=VALUE,KEY=VALUE`. docs/formats.md, section 1, lists them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace memgraft::hotspot {

// The ways of zeroing that join HotSpot. Its own, on the hot path, needs no agent.
enum class ZeroingStrategy : std::uint8_t { bulk, non_temporal };

std::string_view name_of(ZeroingStrategy strategy);

struct Options {
  std::optional<ZeroingStrategy> zeroing;
  std::optional<std::filesystem::path> summary_folder;
  bool check = false;

  friend bool operator==(const Options&, const Options&) = default;
};

// Throws a Refusal with exit code 2 for anything it does not know, and for options that ask for nothing.
Options parse_options(std::string_view text);

}  // namespace memgraft::hotspot
